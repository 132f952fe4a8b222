import { LARGEST_PICTURE, PICTURES } from "../../src/context/attachment";
import { post } from "../page";

type Picture = (typeof PICTURES)[number];

/** Attaches what was pasted or dropped: pictures, and files of the editor. Whether there was any of it. */
export function attachFrom(data: DataTransfer | null): boolean {
  const pictures = [...(data?.files ?? [])].flatMap((file) => {
    const type = PICTURES.find((each) => each === file.type);
    return type !== undefined && file.size <= LARGEST_PICTURE ? [{ file, type }] : [];
  });
  for (const { file, type } of pictures) void attachPicture(file, type);
  const uris = (data?.getData("application/vnd.code.uri-list") ?? "").split(/\r?\n/).filter((uri) => uri.startsWith("file:"));
  if (uris.length > 0) post({ type: "attachUris", uris: uris.slice(0, 100) });
  return pictures.length > 0 || uris.length > 0;
}

async function attachPicture(file: File, mimeType: Picture): Promise<void> {
  const bytes = new Uint8Array(await file.arrayBuffer());
  // In pieces: one call takes only so many arguments.
  const pieces = Array.from({ length: Math.ceil(bytes.length / 8192) }, (_, at) => String.fromCharCode(...bytes.subarray(at * 8192, (at + 1) * 8192)));
  post({ type: "attach", attachment: { kind: "image", name: file.name || "picture", mimeType, data: btoa(pieces.join("")) } });
}
