import { namedPlace } from "../agent/named-place";
import { excerpt } from "../agent/tools/read-file";
import type { UserContent } from "../protocol.gen";
import { type Attachment, labelOf } from "./attachment";
import { attachmentBlock } from "./blocks";

/** Lines of one attached file. A guess: the model can read on with its tools. */
const MOST_LINES = 1000;

/** Where the attached things are read. */
export interface Sources {
  readonly folders: readonly string[];
  read(path: string): Promise<string | null>;
  /** A line for each problem; of the whole workspace without a path. */
  problems(path: string | undefined): string[];
}

/** The message with what is attached to it. What cannot be read any more says so in its place. */
export async function messageContent(text: string, attachments: readonly Attachment[], sources: Sources): Promise<string | UserContent[]> {
  if (attachments.length === 0) return text;
  const blocks = await Promise.all(attachments.map((each) => block(each, sources)));
  return [{ type: "text", text }, ...blocks];
}

async function block(attached: Attachment, sources: Sources): Promise<UserContent> {
  if (attached.kind === "image") return { type: "image", data: attached.data, mimeType: attached.mimeType };
  const text = await textOf(attached, sources).catch((error: unknown) => `[This could not be read: ${error instanceof Error ? error.message : String(error)}]`);
  return { type: "text", text: attachmentBlock(title(attached), text) };
}

function title(attached: Attachment): string {
  return attached.kind === "lines" && attached.name !== undefined ? `${attached.name} (${attached.path}:${attached.start}-${attached.end})` : labelOf(attached);
}

async function textOf(attached: Exclude<Attachment, { kind: "image" }>, sources: Sources): Promise<string> {
  if (attached.kind === "problems") return sources.problems(attached.path).join("\n") || "[There are no problems.]";
  const place = await namedPlace(sources.folders, attached.path);
  const text = await sources.read(place.path);
  if (text === null) return "[The file does not exist.]";
  return attached.kind === "file" ? excerpt(text, 1, MOST_LINES) : excerpt(text, attached.start, Math.min(attached.end - attached.start + 1, MOST_LINES));
}
