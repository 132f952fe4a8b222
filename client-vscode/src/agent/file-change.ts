/** A change of one file, as it is stored in the details of a tool's result: enough to show it and to take it back. */
import * as v from "valibot";

const fileChange = v.object({
  /** As the model writes it. */
  path: v.string(),
  /** Unified, with three lines around each change. */
  patch: v.string(),
  /** SHA-256 of the content; null where there was no file. */
  before: v.nullable(v.string()),
  after: v.nullable(v.string()),
});

export type FileChange = v.InferOutput<typeof fileChange>;

/** The change of a tool's result, where its details hold one. */
export function changeOf(details: unknown): FileChange | undefined {
  const parsed = v.safeParse(v.object({ change: fileChange }), details);
  return parsed.success ? parsed.output.change : undefined;
}
