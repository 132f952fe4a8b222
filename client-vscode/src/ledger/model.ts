import { oneLine } from "../format";
import type { Check, LedgerResult, WorkLedger, WorkState } from "../protocol.gen";

/** One fact: `icon` is one of VS Code's, `entryId` the entry that it comes from. */
export interface Fact {
  kind: "fact";
  icon: string;
  text: string;
  detail: string;
  entryId: string | null;
}

export interface Section {
  kind: "section";
  title: "Done" | "Open" | "Next";
  facts: Fact[];
}

/** Lines of a section, the newest of what is done and the rest from the beginning. A guess: more than one screen. */
const MOST_FACTS = 50;
const LONGEST = 160;

/** What is done, what is open and what comes next; sections without facts are left out. */
export function sections({ ledger }: LedgerResult): Section[] {
  const state = ledger.state ?? { branch: "", baseCommit: "" };
  const all: Section[] = [
    { kind: "section", title: "Open", facts: open(state).slice(0, MOST_FACTS) },
    { kind: "section", title: "Next", facts: next(ledger).slice(0, MOST_FACTS) },
    { kind: "section", title: "Done", facts: done(state).toReversed().slice(0, MOST_FACTS) },
  ];
  return all.filter(({ facts }) => facts.length > 0);
}

function open({ tasks = [], failures = [], checks = [], uncommitted = [], jobs = [] }: WorkState): Fact[] {
  return [
    ...failures.map(({ entryId, command, error }) => fact("error", command, error, entryId)),
    ...checks.filter(({ passed }) => !passed).map(({ entryId, command, result }) => fact("error", command, result, entryId)),
    ...checks.filter((check) => check.passed && !isCurrent(check)).map(({ entryId, command }) => fact("history", command, "passed, before later changes", entryId)),
    ...tasks.filter(({ state }) => state === "in_progress").map(({ entryId, title }) => fact("play", title, "in progress", entryId)),
    ...tasks.filter(({ state }) => state === "blocked").map(({ entryId, title }) => fact("circle-slash", title, "blocked", entryId)),
    ...jobs.filter(({ state }) => state === "running").map(({ entryId, command }) => fact("sync", command, "running", entryId)),
    ...uncommitted.map(({ entryId, path, kind }) => fact("diff-modified", path, `${kind}, not committed`, entryId)),
  ];
}

function next({ messages = [], quotations = [], finished, state }: WorkLedger): Fact[] {
  const asked = messages.findLast(({ source }) => source === "user");
  const announced = quotations.filter(({ kind }) => kind === "announcement");
  return [
    ...(finished || asked === undefined ? [] : [fact("account", asked.text, "asked last", asked.entryId)]),
    ...announced.map(({ entryId, text }) => fact("arrow-right", text, "announced", entryId)),
    ...(state?.tasks ?? []).filter((task) => task.state === "open").map(({ entryId, title }) => fact("circle-large-outline", title, "", entryId)),
  ];
}

function done({ tasks = [], commits = [], checks = [] }: WorkState): Fact[] {
  return [
    ...checks.filter((check) => check.passed && isCurrent(check)).map(({ entryId, command, result }) => fact("pass", command, result, entryId)),
    ...tasks.filter(({ state }) => state === "done").map(({ entryId, title }) => fact("check", title, "", entryId)),
    ...commits.map(({ entryId, hash, subject, pushed }) => fact("git-commit", subject, [hash, pushed ? "pushed" : ""].filter((part) => part !== "").join(", "), entryId)),
  ];
}

function isCurrent({ changedSince = [] }: Check): boolean {
  return changedSince.length === 0;
}

function fact(icon: string, text: string, detail: string, entryId: string | null): Fact {
  return { kind: "fact", icon, text: oneLine(text, LONGEST), detail: oneLine(detail, LONGEST), entryId };
}
