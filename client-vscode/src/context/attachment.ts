/** What a person attaches to a message. Shared by the host and the Chat view's page. */
import * as v from "valibot";

const path = v.pipe(v.string(), v.minLength(1), v.maxLength(4000));
const line = v.pipe(v.number(), v.integer(), v.minValue(1));

/** The kinds of pictures that models take. */
export const PICTURES = ["image/png", "image/jpeg", "image/gif", "image/webp"] as const;
/** Bytes of one picture, which providers refuse above five million; base64 makes four characters of three bytes. */
export const LARGEST_PICTURE = 5_000_000;
const LONGEST_DATA = Math.ceil(LARGEST_PICTURE / 3) * 4;

export const attachment = v.variant("kind", [
  v.object({ kind: v.literal("file"), path }),
  /** Lines of a file, counted from 1, both ends included; `name` is that of the symbol they define. */
  v.object({ kind: v.literal("lines"), path, start: line, end: line, name: v.optional(v.string()) }),
  /** The problems of the editor's checkers: of one file, or of the workspace. */
  v.object({ kind: v.literal("problems"), path: v.optional(path) }),
  v.object({ kind: v.literal("image"), name: v.string(), mimeType: v.picklist(PICTURES), data: v.pipe(v.string(), v.maxLength(LONGEST_DATA), v.base64()) }),
]);

export type Attachment = v.InferOutput<typeof attachment>;

/** One line of what can be attached or run, while a person types `@`. */
export interface Suggestion {
  /** A codicon. */
  icon: string;
  label: string;
  detail?: string | undefined;
  attachment: Attachment;
}

export function labelOf(attached: Attachment): string {
  switch (attached.kind) {
    case "file":
      return attached.path;
    case "lines": {
      const lines = attached.start === attached.end ? attached.start : `${attached.start}-${attached.end}`;
      return attached.name ?? `${attached.path}:${lines}`;
    }
    case "problems":
      return attached.path === undefined ? "problems" : `problems in ${attached.path}`;
    case "image":
      return attached.name;
  }
}

export function sameAttachment(one: Attachment, other: Attachment): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}
