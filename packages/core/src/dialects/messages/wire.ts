import { originalOf } from '../../protocol/original.ts'
import type { JsonObject } from '../../protocol/wire.ts'

export const dialect = 'messages'

// What readings remember in this language, so that both halves mean the same by an original:
// - a request: the whole body. Its `prompt.reasoning`: `{ thinking, output_config }`; its `prompt.text`: `output_config`.
// - a message item: `{ role, content }` with just the blocks of this item, since one message may hold several items.
//   The `system` blocks at the front are such an item too, of the role `system`.
// - any other item, and a part: its block. A tool: its entry of `tools`.
// - a native item of a conversation is a block of the assistant; a user's block that we do not read is a native part.
// - `started`: the message of `message_start`. A whole answer, and `finished`: the message as it is in the end.
// - an annotation: its citation. Citations of documents are no links, which is all that other languages know: in a stream each
//   is a native event `content_block_delta` about its item, with the wire event as its body.

export const originalBody = (reading: object): JsonObject | undefined => {
  const original = originalOf(reading)
  return original?.dialect === dialect ? original.body : undefined
}
