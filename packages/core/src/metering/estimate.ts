import type { Item, Part } from '../protocol/item.ts'
import type { Offer, Price, Rates } from '../protocol/model.ts'
import { mostTokensOf, ratesUpTo } from '../protocol/rates.ts'
import type { Prompt } from '../protocol/request.ts'
import { isObject, type Json } from '../protocol/wire.ts'
import { tokensOfFile, tokensOfSound } from './count-blobs.ts'
import { costAt, type Microdollars } from './money.ts'

/** Characters per token where nobody counted for us. */
const charactersPerToken = 4
/** An image, whatever its address or its bytes weigh, and what is not told apart: base64 is no text to a model. */
export const tokensPerBlob = 1_600
/** Roles, brackets and names around one item. */
const tokensPerItem = 8
/** Answers that name no cap are assumed to stay below this when money is set aside; what is used beyond is owed all the same. */
const assumedOutput = 16_384
/** More than any answer or prompt can hold; keeps tokens × price far below 2⁵³. */
const mostTokens = 10_000_000

export const tokensOfText = (characters: number): number => Math.ceil(characters / charactersPerToken)

interface Tally {
  characters: number
  blobs: number
  /** Of files and sounds, which a model reads from end to end: they weigh by their size. */
  tokens: number
}

/** Input tokens of a prompt, counted in characters: no text is copied or scanned. */
export function estimateInput(prompt: Prompt): number {
  const tally: Tally = { characters: prompt.instructions?.length ?? 0, blobs: 0, tokens: 0 }
  for (const item of prompt.input) addItem(tally, item)
  for (const tool of prompt.tools ?? []) tally.characters += JSON.stringify(tool).length
  // What goes on unread is paid for all the same.
  for (const unread of [prompt.extensions, prompt.native?.body]) if (unread) tally.characters += JSON.stringify(unread).length
  if (prompt.text?.format?.type === 'json_schema') tally.characters += JSON.stringify(prompt.text.format.schema).length
  return prompt.input.length * tokensPerItem + tally.blobs * tokensPerBlob + tally.tokens + tokensOfText(tally.characters)
}

function addItem(tally: Tally, item: Item): void {
  if (item.type === 'message') addParts(tally, item.content)
  else if (item.type === 'function_call') tally.characters += item.name.length + item.arguments.length
  else if (item.type === 'native') addNative(tally, item.body)
  else if (item.type === 'reasoning') {
    tally.characters += item.encrypted_content?.length ?? 0
    for (const text of [...item.summary, ...(item.content ?? [])]) tally.characters += text.length
  } else if (typeof item.output === 'string') tally.characters += item.output.length
  else addParts(tally, item.output)
}

function addParts(tally: Tally, parts: readonly Part[]): void {
  for (const part of parts) {
    if (part.type === 'text') tally.characters += part.text.length
    else if (part.type === 'refusal') tally.characters += part.refusal.length
    else if (part.type === 'image') tally.blobs += 1
    else if (part.type === 'file') tally.tokens += tokensOfFile(part)
    else if (part.type === 'audio') tally.tokens += tokensOfSound(part)
    else addNative(tally, part.body)
  }
}

/** Quotes, a colon and a comma around a value. */
const punctuation = 4

const addNative = (tally: Tally, body: Json): void =>
  eachField(body, (field, text, isBlob) => {
    tally.characters += field.length + punctuation + text.length
    if (isBlob) tally.blobs += 1
  })

/**
 * Every value inside of one that we do not model: its field, its text if it is one, and whether it stands for bytes instead.
 * With a list of its own instead of calling itself, since a client decides how deep its JSON goes.
 */
export function eachField(body: Json, see: (field: string, text: string, isBlob: boolean) => void): void {
  const left: (readonly [field: string, value: Json | undefined])[] = [['', body]]
  for (let next = left.pop(); next; next = left.pop()) {
    const [field, value] = next
    const blob = typeof value === 'string' && isBlob(field, value)
    see(field, typeof value === 'string' && !blob ? value : '', blob)
    if (Array.isArray(value)) for (const each of value as readonly Json[]) left.push(['', each])
    else if (isObject(value)) for (const each of Object.entries(value)) left.push(each)
  }
}

/** Fields that stand for bytes, or for something that the provider fetches. */
const blobField = /^(?:data|.+_data|image_url|file_url|file_id)$/
const dataUrl = /^data:[\w.+-]{1,100}\/[\w.+-]{1,100}[;,]/

const isBlob = (field: string, value: string): boolean => !value.startsWith('data:text/') && (blobField.test(field) || dataUrl.test(value))

/** An offer at the price that a request pays there: `{ ...offer, price: priceFor(candidate, request) }`. */
type Priced = Pick<Offer, 'context_window' | 'max_output_tokens'> & { readonly price?: Price | undefined }

/**
 * The most that an answer from this offer is expected to cost: set aside before the call, at the dearest tier that the prompt may
 * fall into. Always a safe integer, and never for more output than the offer can give, else a caller would be refused for money
 * that the call cannot cost.
 */
export function estimateMost({ price, context_window, max_output_tokens }: Priced, inputTokens: number, maxOutput?: number): Microdollars {
  if (!price) return 0
  const fits = (tokens: number): number => Math.min(tokens, context_window ?? tokens, mostTokens)
  const prompt = { likely: fits(inputTokens), most: fits(mostTokensOf(inputTokens)) }
  const output = Math.min(maxOutput ?? assumedOutput, max_output_tokens ?? mostTokens, mostTokens)
  return ratesUpTo(price, prompt.most).reduce((most, rates) => Math.max(most, mostAt(rates, prompt, output)), 0)
}

interface PromptLength {
  readonly likely: number
  readonly most: number
}

/**
 * As if all of the prompt went into the cache, where that is dearest. What is kept for an hour costs so much more that it is
 * reckoned without the margin: few ask for it, and the others would be refused for it.
 */
function mostAt(rates: Rates, { likely, most }: PromptLength, output: number): Microdollars {
  const { input, cached = input, cache_write = input, cache_write_1h } = rates
  const anHour = cache_write_1h ?? (rates.cache_write === undefined ? 0 : 2 * input)
  const cost = (rate: number, tokens: number): Microdollars =>
    costAt({ input: rate, output: rates.output }, { ...none, input_tokens: tokens, output_tokens: output })
  return Math.max(cost(Math.max(input, cached, cache_write), most), cost(anHour, likely))
}

const none = { cached_tokens: 0, cache_write_tokens: 0, reasoning_tokens: 0 }
