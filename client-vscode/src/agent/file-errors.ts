import { counted, oneLine } from "../format";

/** Errors of one file that a model is given after an edit: more are the same mistake again. */
const MOST = 10;
const LONGEST = 300;

/** An error that the editor shows in a file. Line and column count from 1. */
export interface FileError {
  line: number;
  column: number;
  message: string;
  /** Who reports it, `ts 2304` for instance. */
  source: string;
}

/** Looks at the errors of a file from before an edit on. */
export interface ErrorWatch {
  readonly before: readonly FileError[];
  /** The errors after the edit. It waits a moment for the editor to find them. */
  after(): Promise<readonly FileError[]>;
}

/** The errors that were not there before, as lines for a model; empty without any. Errors that only moved are no new ones. */
export function newErrors(shown: string, before: readonly FileError[], after: readonly FileError[]): string {
  const counts = new Map<string, number>();
  for (const each of before) counts.set(keyOf(each), (counts.get(keyOf(each)) ?? 0) + 1);
  const fresh = after.filter((each) => {
    const left = counts.get(keyOf(each)) ?? 0;
    counts.set(keyOf(each), left - 1);
    return left <= 0;
  });
  if (fresh.length === 0) return "";
  const lines = fresh.slice(0, MOST).map(({ line, column, message, source }) => oneLine(`${line}:${column} ${message}${source === "" ? "" : ` (${source})`}`, LONGEST));
  const more = fresh.length > MOST ? [`and ${counted(fresh.length - MOST, "further error")}`] : [];
  return [`The editor shows new errors in ${shown} since this edit:`, ...lines, ...more].join("\n");
}

function keyOf({ message, source }: FileError): string {
  return JSON.stringify([message, source]);
}
