import type { Item, Part } from '../protocol/item.ts'
import type { Offer } from '../protocol/model.ts'
import type { Prompt } from '../protocol/request.ts'
import { costOf, type Microdollars } from './money.ts'

/** Characters per token where nobody counted for us. */
const charactersPerToken = 4
/** What is set aside for input, beyond the estimate: the store must never be short because a text was dense. */
const margin = 1.5
/** An image, whatever its address or its bytes weigh. */
const tokensPerImage = 1_600
/** Roles, brackets and names around one item. */
const tokensPerItem = 8
/** Answers that name no cap are assumed to stay below this when money is set aside; what is used beyond is owed all the same. */
const assumedOutput = 16_384

export const tokensOfText = (characters: number): number => Math.ceil(characters / charactersPerToken)

/** Input tokens of a prompt, counted in characters: no text is copied or scanned. */
export function estimateInput(prompt: Prompt): number {
  let characters = prompt.instructions?.length ?? 0
  let tokens = 0
  for (const item of prompt.input) {
    tokens += tokensPerItem
    characters += charactersOf(item)
    if (item.type === 'message') tokens += imagesIn(item.content)
    else if (item.type === 'function_call_output' && typeof item.output !== 'string') tokens += imagesIn(item.output)
  }
  for (const tool of prompt.tools ?? []) characters += JSON.stringify(tool).length
  if (prompt.text?.format?.type === 'json_schema') characters += JSON.stringify(prompt.text.format.schema).length
  return tokens + tokensOfText(characters)
}

const imagesIn = (parts: readonly Part[]): number => parts.filter(({ type }) => type === 'image').length * tokensPerImage

function charactersOf(item: Item): number {
  if (item.type === 'message') return charactersIn(item.content)
  if (item.type === 'function_call') return item.name.length + item.arguments.length
  if (item.type === 'function_call_output') return typeof item.output === 'string' ? item.output.length : charactersIn(item.output)
  if (item.type === 'reasoning')
    return [...item.summary, ...(item.content ?? [])].reduce((sum, text) => sum + text.length, item.encrypted_content?.length ?? 0)
  return JSON.stringify(item.body).length
}

function charactersIn(parts: readonly Part[]): number {
  let sum = 0
  for (const part of parts) {
    if (part.type === 'text') sum += part.text.length
    else if (part.type === 'refusal') sum += part.refusal.length
    else if (part.type === 'native') sum += JSON.stringify(part.body).length
  }
  return sum
}

/** The most that an answer from this offer is expected to cost: set aside before the call. */
export function estimateMost(offer: Offer, inputTokens: number, maxOutput: number | undefined): Microdollars {
  if (!offer.price) return 0
  const bound = Math.ceil(inputTokens * margin)
  const input = Math.min(bound, offer.context_window ?? bound)
  const output = maxOutput ?? Math.min(offer.max_output_tokens ?? assumedOutput, assumedOutput)
  const writes = Math.max(offer.price.input, offer.price.cache_write ?? 0)
  const usage = { input_tokens: input, output_tokens: output, cached_tokens: 0, cache_write_tokens: 0, reasoning_tokens: 0 }
  return costOf({ ...offer.price, input: writes }, usage)
}
