/** What is played in the laboratory: turns, moves with and without files, cut off, put off, finished and undone. */
import assert from "node:assert/strict";

import { AGENTS, type Choice, type Cut, hasOwn, Laboratory } from "./windows";
import type { Files } from "./tree";

export class Games extends Laboratory {
  async turn(): Promise<void> {
    await this.current.files.settled("c");
    const before = await this.disk();
    const left = this.tree.path().find(({ message }) => message !== undefined)?.disk;
    this.tree.notes.length = 0;
    // Where nothing was ever recorded, as in an import, nothing goes along and nothing is said.
    const isLate = this.tree.entries.size > 0 && this.random(8) === 0;
    await this.current.notes.beforeTurn("c", isLate ? undefined : await this.workspace.take());
    const note = this.tree.notes.join();
    for (const name of left === undefined ? [] : AGENTS.filter((each) => left[each] !== before[each] && !hasOwn(before[each], left[each]))) assert.ok(note.includes(name) || note.includes("may not be"), `the model is not told of ${name}: ${note}`);
    const record = async (role: string): Promise<void> => {
      const disk = await this.disk();
      this.tree.add({ type: "message", ...isLate ? { message: { role, content: role } } : { message: { role, content: role, workspaceState: await this.workspace.take() }, disk } });
    };
    await record("user");
    for (let edits = this.random(4); edits > 0; edits -= 1) {
      const name = AGENTS[this.random(AGENTS.length)] ?? "";
      const isThere = (await this.disk())[name] !== undefined;
      await this.workspace.write({ [name]: isThere && this.random(4) === 0 ? null : `agent ${this.log.length} ${this.random(1e6)}\n` });
      await record("toolResult");
    }
    this.tree.add({ type: "message", message: { role: "assistant" }, ...isLate ? {} : { disk: await this.disk() } });
    this.fresh = [];
    this.clickUndo = undefined;
    this.isMixed = isLate;
  }

  /** An entry that no turn stores. */
  choose(type: string): void {
    if (this.tree.leafId !== undefined) this.tree.add({ type });
  }

  async move(targetId: string, choice: Choice, cut: Cut | undefined): Promise<void> {
    this.current = this.open(cut);
    const { files, person, navigate, ended, changes } = this.current;
    person.answer = choice;
    person.meanwhile = () => this.userWrites();
    const wasElsewhere = this.isElsewhere();
    const from = this.tree.leafId;
    const wanted = this.owner(targetId);
    const disk = await this.disk();
    const result = await Promise.race([files.move("c", targetId, () => navigate(targetId) as never), ended]);
    if (result === "ended") {
      await this.resume();
      return;
    }
    const now = await this.disk();
    assert.deepEqual(changes.unfinished, {});
    if (choice === "both" && wanted !== undefined && result !== undefined && !this.isMixed) {
      for (const name of AGENTS) if (!hasOwn(now[name], wanted[name])) assert.equal(now[name], wanted[name], `${name} of the branch`);
    }
    if (result === undefined) {
      if (choice === "files") this.arrive(now);
      return;
    }
    if (!wasElsewhere) this.owned.set(from, disk);
    const isWithout = choice === "conversation" || wanted === undefined;
    this.owned.set(this.tree.leafId, isWithout ? wanted ?? now : now);
    if (isWithout) this.elsewhere.add(this.tree.leafId);
    else this.elsewhere.delete(this.tree.leafId);
  }

  arrive(now: Files): void {
    this.owned.set(this.tree.leafId, now);
    this.elsewhere.delete(this.tree.leafId);
  }

  /** The next window puts off what was cut off: other moves are refused, and turns run. */
  async putOff(): Promise<void> {
    this.current = this.open();
    const { files, person, changes, navigate } = this.current;
    person.unfinished = "cancel";
    await files.resume(() => undefined);
    if (changes.unfinished["c"] === undefined) return;
    this.log.push("later");
    const [before, leafId] = [await this.disk(), this.tree.leafId];
    await assert.rejects(files.move("c", [...this.tree.entries.keys()][0] ?? "", () => navigate("none") as never), /the chat asks/);
    assert.deepEqual([await this.disk(), this.tree.leafId], [before, leafId], "a move that is refused changes nothing");
    await this.userWrites();
    if (this.random(2) === 0) await this.turn();
  }

  /** A later window finishes what was cut off, undoes it, or leaves it. */
  async resume(): Promise<void> {
    await this.userWrites();
    if (this.random(2) === 0) await this.putOff();
    this.current = this.open();
    const { files, person, offered, changes } = this.current;
    person.unfinished = (["finish", "undo", "leave"] as const)[this.random(3)] ?? "finish";
    await files.resume(() => undefined);
    assert.deepEqual(changes.unfinished, {}, "nothing is unfinished");
    const isAskedAbout = offered.some(({ kind }) => kind === "unfinished");
    this.log.push(isAskedAbout ? person.unfinished : "nothing to finish");
    // Where it was cut off, the states of both branches depend on how far it came.
    this.isMixed = true;
    this.arrive(await this.disk());
  }

  async undo(): Promise<void> {
    const { clickUndo, current } = this;
    if (clickUndo === undefined) return;
    this.clickUndo = undefined;
    clickUndo();
    for (let waits = 0; waits < 20; waits += 1) await new Promise(setImmediate);
    await current.changes.hold("c", () => Promise.resolve());
    this.isMixed = true;
    this.arrive(await this.disk());
  }

  async step(): Promise<void> {
    const { random, tree } = this;
    const ids = [...tree.entries.keys()];
    // Before the first message is one of many places.
    const target = ids[random(random(5) === 0 ? 1 : ids.length)] ?? "";
    const kind = random(10);
    if (kind < 3 || ids.length === 0) {
      this.log.push("turn");
      await this.turn();
      return;
    }
    if (kind > 4) this.fresh = [];
    await this.userWrites();
    if (kind === 3) {
      this.log.push("choice");
      this.choose(["model_change", "compaction", "thinking_level_change"][random(3)] ?? "");
    } else if (kind === 4) {
      this.log.push("undo");
      await this.undo();
    } else if (kind === 5) {
      this.log.push(`restore ${target}`);
      this.current = this.open();
      this.current.person.answer = "files";
      await this.current.files.handle({ type: "restoreFiles", entryId: target }, "c").catch((error: unknown) => { assert.match(String(error), /not recorded/); });
      this.arrive(await this.disk());
    } else {
      const choice = (["both", "both", "both", "conversation", "conversation", "files", "cancel"] as const)[random(7)] ?? "both";
      const cut = random(4) === 0 ? (["before it moves", "after it moved", "between the files"] as const)[random(3)] : undefined;
      this.log.push(`${choice} ${target} ${cut ?? ""}`);
      await this.move(target, choice, cut);
    }
    const now = Object.values(await this.disk()).join("");
    for (const mark of this.fresh) assert.ok(now.includes(mark), `${mark} is lost`);
    if (kind > 4 && random(3) === 0) this.choose("model_change");
  }
}
