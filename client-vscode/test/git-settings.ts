import { tmpdir } from "node:os";
import { join } from "node:path";

const NOWHERE = join(tmpdir(), "coppice-no-such-folder");

/** Has Git, and what reads its settings, find none of the machine's and of the user's in this process. */
export function withoutGitSettings(home = NOWHERE): void {
  Object.assign(process.env, { HOME: home, XDG_CONFIG_HOME: "", GIT_CONFIG_SYSTEM: NOWHERE });
}
