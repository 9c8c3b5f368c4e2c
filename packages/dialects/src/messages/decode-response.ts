import { failed } from '../common/answer-failures.ts'
import { emitItem, emptyMessage } from '../common/item-assembler.ts'
import { objects, stringOf } from '../common/json.ts'
import type { ResponseMapping } from '../protocol/dialect.ts'
import { remember } from '../protocol/original.ts'
import type { InferenceResponse } from '../protocol/response.ts'
import type { JsonObject } from '../protocol/wire.ts'
import { createBlockAssembler, finishBlock, finishItems, startBlock } from './block-assembler.ts'
import { errorIn, nestedTooDeep, noContent } from './errors.ts'
import { decodeUsage, dialect, outcomeOf, readHead } from './wire.ts'

export function decodeResponse(body: JsonObject, mapping: ResponseMapping = {}): InferenceResponse {
  try {
    return decodeMessage(body, mapping)
  } catch {
    // The input of a call cannot be serialized.
    return { ...readHead(body), output: [], outcome: nestedTooDeep }
  }
}

/** Decodes a message. Its blocks go through the same assembler as those of a stream. */
function decodeMessage(body: JsonObject, mapping: ResponseMapping): InferenceResponse {
  const head = readHead(body)
  const error = errorIn(body)
  const blocks = contentBlocks(body)
  const assembler = { ...createBlockAssembler(mapping), answerId: head.id }
  for (const wire of blocks ?? []) {
    const block = startBlock(assembler, wire)
    if (block) finishBlock(assembler, block)
  }
  const outcome = error ? failed(error) : blocks ? (assembler.fault ?? outcomeOf(stringOf(body.stop_reason))) : noContent
  finishItems(assembler, outcome, body)
  const usage = decodeUsage(body.usage, assembler.count > 0)
  if (assembler.count === 0 && outcome.status === 'completed') emitItem(assembler, emptyMessage)
  const output = assembler.events.flatMap(event => (event.type === 'item_finished' ? [event.item] : []))
  const unmodeled = assembler.unmodeled && { unmodeled: [...assembler.unmodeled] }
  return remember({ ...head, output, outcome, ...(usage && { usage }), ...unmodeled }, { dialect, body })
}

/** The content blocks; undefined if the body is not a message. Some servers send plain text, or null for no content. */
function contentBlocks({ content, stop_reason }: JsonObject): readonly JsonObject[] | undefined {
  if (typeof content === 'string') return content === '' ? [] : [{ type: 'text', text: content }]
  return Array.isArray(content) || typeof stop_reason === 'string' ? objects(content) : undefined
}
