// Measures Pi's session manager on one file: node pi_peer.mjs PACKAGE_FOLDER SESSION_FILE RUNS
// Writes one line of JSON: nanoseconds of each run by operation, and the process's greatest memory in KiB.
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { join } from "node:path";

const [packageFolder, sessionFile, runs] = process.argv.slice(2);
const load = (file) => import(pathToFileURL(join(packageFolder, "dist", file)).href);
const { SessionManager } = await load("core/session-manager.js");
const { prepareCompaction, DEFAULT_COMPACTION_SETTINGS } = await load("core/compaction/index.js");

const timed = (work) => {
	const start = process.hrtime.bigint();
	work();
	return Number(process.hrtime.bigint() - start);
};
const repeat = (work) => Array.from({ length: Number(runs) }, () => timed(work));

let session;
const open = [timed(() => { session = SessionManager.open(sessionFile); })];
const message = { role: "user", content: [{ type: "text", text: "Go on, please." }], timestamp: 0 };
const taken = {
	"open, cold": open,
	context: repeat(() => session.buildSessionContext()),
	compactPreview: repeat(() => prepareCompaction(session.getBranch(), DEFAULT_COMPACTION_SETTINGS)),
	append: repeat(() => session.appendMessage(message)),
};
// Not process.resourceUsage(): that counts what the parent held before exec.
const memory = Number(/VmHWM:\s+(\d+)/.exec(readFileSync("/proc/self/status", "ascii"))[1]);
process.stdout.write(JSON.stringify({ taken, memory }) + "\n");
