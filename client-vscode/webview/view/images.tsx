import type { JSX } from "preact";

import type { ImageContent } from "../../src/protocol.gen";

const SHOWN = /^image\/(png|jpeg|gif|webp)$/;

/** Pictures of the conversation, from their own data; other kinds are only named. */
export function Images({ images }: { images: readonly ImageContent[] }): JSX.Element {
  return (
    <>
      {images.map(({ data, mimeType }, at) =>
        SHOWN.test(mimeType) ? (
          <img key={at} class="picture" src={`data:${mimeType};base64,${data}`} alt={`Attached picture ${at + 1}`} />
        ) : (
          <span key={at} class="placeholder">[image: {mimeType}]</span>
        ),
      )}
    </>
  );
}
