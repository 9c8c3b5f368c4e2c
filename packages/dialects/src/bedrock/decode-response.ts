import { failed } from '../common/answer-failures.ts'
import { drainEvents } from '../common/item-assembler.ts'
import { objects, stringOf } from '../common/json.ts'
import type { ResponseMapping } from '../protocol/dialect.ts'
import { fold } from '../protocol/fold.ts'
import { remember } from '../protocol/original.ts'
import type { InferenceResponse } from '../protocol/response.ts'
import { isObject, type JsonObject } from '../protocol/wire.ts'
import {
  addCall,
  addCitation,
  addInput,
  addOther,
  addRedacted,
  addSignature,
  addText,
  addThinking,
  type BlockAssembler,
  callStart,
  createBlockAssembler,
  finishAnswer,
  stopBlock,
} from './block-assembler.ts'
import { errorIn, invalidJson } from './errors.ts'
import { dialect, inputText, outcomeOf } from './wire.ts'

/** Decodes a response. Its blocks go through the same assembler as those of a stream. */
export function decodeResponse(body: JsonObject, mapping?: ResponseMapping): InferenceResponse {
  const assembler = createBlockAssembler(mapping)
  const message = isObject(body.output) && isObject(body.output.message) ? body.output.message : undefined
  if (message) for (const [index, block] of objects(message.content).entries()) addBlock(assembler, index, block)
  finishAnswer(assembler, message ? outcomeOf(stringOf(body.stopReason)) : failed(errorIn(body)), body)
  return remember(fold(drainEvents(assembler)), { dialect, body })
}

function addBlock(assembler: BlockAssembler, index: number, block: JsonObject): void {
  const { text, toolUse, reasoningContent: reasoning, citationsContent } = block
  if (typeof text === 'string') addText(assembler, index, text)
  if (isObject(citationsContent)) {
    for (const piece of objects(citationsContent.content)) addText(assembler, index, stringOf(piece.text))
    for (const citation of objects(citationsContent.citations)) addCitation(assembler, citation)
  }
  if (isObject(toolUse)) {
    addCall(assembler, index, callStart(toolUse))
    const input = inputText(toolUse)
    if (input === undefined) assembler.fault = invalidJson
    else addInput(assembler, index, input)
  }
  if (isObject(reasoning)) {
    const { text, signature } = isObject(reasoning.reasoningText) ? reasoning.reasoningText : {}
    addThinking(assembler, index, stringOf(text))
    addSignature(assembler, index, stringOf(signature))
    addRedacted(assembler, index, stringOf(reasoning.redactedContent))
  }
  addOther(assembler, block)
  stopBlock(assembler, index)
}
