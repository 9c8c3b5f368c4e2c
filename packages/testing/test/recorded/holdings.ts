import { isObject, type Json, type JsonObject } from '@signalbox/dialects/protocol'
import { parsed } from '../../src/parsed.ts'
import { asSse, isSse, type Recording } from '../../src/recorded.ts'

// What a recorded answer holds, read from its JSON alone: nothing here knows how the gateway reads it.

export interface Call {
  readonly name: string
  readonly input: unknown
}

export interface Holdings {
  readonly text: string
  readonly calls: readonly Call[]
  /** Tokens; undefined where the recording names none. */
  readonly usage: { readonly input: number; readonly output: number } | undefined
  /** What the provider's own totals say, where they leave compactions out. A client of the same dialect receives these. */
  readonly totals?: Holdings['usage']
  /** Types of whatever else there is: items, parts, blocks, annotations and fields that hold content. */
  readonly others: ReadonlySet<string>
  /** Bytes or URLs of images. */
  readonly images: readonly string[]
  /** URLs of cited pages. */
  readonly links: ReadonlySet<string>
  /** It is an error, or ends as one. */
  readonly isFailed: boolean
}

interface Found {
  text: string
  readonly calls: Call[]
  usage: Holdings['usage']
  totals?: Holdings['usage']
  readonly others: Set<string>
  readonly images: string[]
  readonly links: Set<string>
  isFailed: boolean
}

const list = (value: Json | undefined): readonly JsonObject[] =>
  Array.isArray(value) ? (value as readonly Json[]).filter(each => isObject(each)) : []
const string = (value: Json | undefined): string => (typeof value === 'string' ? value : '')
const number = (value: Json | undefined): number => (typeof value === 'number' ? value : 0)
const inner = (value: Json | undefined): JsonObject => (isObject(value) ? value : {})
const parsedInput = (text: string): unknown => {
  try {
    return JSON.parse(text === '' ? '{}' : text)
  } catch {
    return text
  }
}
const isFilled = (entry: Json | undefined): boolean => typeof entry === 'object' && entry !== null && Object.keys(entry).length > 0

/** A few payloads lack their last brace. */
const payload = (text: string): readonly JsonObject[] => {
  const body = parsed(text) ?? parsed(`${text}}`)
  return body ? [body] : []
}

/** The payloads of a stream. */
export function payloads(recording: Recording): readonly JsonObject[] {
  if (recording.chunks) return recording.chunks.flatMap(payload)
  if (!isSse(recording)) return []
  const lines = Buffer.from(asSse(recording)).toString().split(/\r?\n/)
  return lines.filter(line => line.startsWith('data:')).flatMap(line => payload(line.slice(5)))
}

/** What a whole answer holds. */
export const wholeHoldings = ({ dialect, whole }: Recording): Holdings => read(dialect, [whole ?? {}])
/** What a stream holds. */
export const streamHoldings = (recording: Recording): Holdings => read(recording.dialect, payloads(recording))

function read(dialect: Recording['dialect'], bodies: readonly JsonObject[]): Holdings {
  const found: Found = { text: '', calls: [], usage: undefined, others: new Set(), images: [], links: new Set(), isFailed: false }
  readers[dialect](found, bodies)
  return found
}

const responseItem = (found: Found, item: JsonObject): void => {
  const type = string(item.type)
  if (type === 'function_call') found.calls.push({ name: string(item.name), input: parsedInput(string(item.arguments)) })
  else if (type === 'custom_tool_call') found.calls.push({ name: string(item.name), input: string(item.input) })
  else if (type === 'image_generation_call' && item.result) found.images.push(string(item.result))
  else if (type !== 'message' && type !== 'reasoning') found.others.add(type)
  for (const part of type === 'message' ? list(item.content) : []) {
    if (part.type === 'refusal') found.text += string(part.refusal)
    else if (part.type === 'output_text') found.text += string(part.text)
    else found.others.add(string(part.type))
    for (const annotation of list(part.annotations)) {
      if (annotation.type === 'url_citation') found.links.add(string(annotation.url))
      else found.others.add(string(annotation.type))
    }
  }
}

/** Events may be wrapped into an object of a relay. */
const unwrapped = (body: JsonObject): JsonObject =>
  typeof body.type === 'string' && /^(response\.|error)/.test(body.type)
    ? body
    : (Object.values(body).find((each): each is JsonObject => isObject(each) && /^response\./.test(string(each.type))) ?? body)

/** Some recordings hold the answers to several requests in a row: the first is the one that is played. */
const firstAnswer = (bodies: readonly JsonObject[], isLast: (body: JsonObject) => boolean): readonly JsonObject[] => {
  const end = bodies.findIndex(isLast)
  return end === -1 ? bodies : bodies.slice(0, end + 1)
}

function responses(found: Found, bodies: readonly JsonObject[]): void {
  const isDone = ({ type }: JsonObject): boolean => /^response\.(completed|incomplete|failed)$/.test(string(type))
  const events = firstAnswer(bodies.map(unwrapped), isDone)
  const last = inner(events.find(isDone)?.response ?? (bodies.length === 1 ? bodies[0] : undefined))
  const done = events.filter(({ type }) => type === 'response.output_item.done').map(({ item }) => inner(item))
  const items = list(last.output).length > 0 ? list(last.output) : done
  for (const item of items) responseItem(found, item)
  if (events.some(({ type }) => string(type).startsWith('response.audio'))) found.others.add('audio')
  const { input_tokens, output_tokens } = inner(last.usage)
  if (input_tokens !== undefined) found.usage = { input: number(input_tokens), output: number(output_tokens) }
  found.isFailed = last.status === 'failed' || isObject(last.error) || events.some(({ type }) => type === 'error')
}

const isUnknownCall = ({ type, function: named, custom }: JsonObject): boolean =>
  named === undefined && custom === undefined && !['', 'function', 'custom'].includes(string(type))

const messageFields = new Set(['role', 'content', 'text', 'refusal', 'tool_calls', 'function_call', 'annotations', 'images'])
const reasoningFields = new Set(['reasoning', 'reasoning_content', 'reasoning_details', 'extra_content'])

/** The bytes of a data URL, or a URL. */
const imageOf = ({ image_url }: JsonObject): string => string(inner(image_url).url).replace(/^data:[^,]*,/, '')

function chatMessage(found: Found, message: JsonObject, calls: Map<unknown, { name: string; text: string; custom: boolean }>): void {
  const { content, text } = message
  found.text += string(content) || (content === undefined ? string(text) : '')
  found.text += string(message.refusal)
  for (const part of list(content)) {
    const type = string(part.type)
    if (type === 'image_url') found.images.push(imageOf(part))
    else if (type === 'text' || (type !== 'thinking' && part.text)) found.text += string(part.text)
    else if (type !== 'thinking' && type !== 'reasoning') found.others.add(type)
  }
  for (const image of list(message.images)) found.images.push(imageOf(image))
  for (const annotation of list(message.annotations)) {
    if (isObject(annotation.url_citation)) found.links.add(string(annotation.url_citation.url))
    else found.others.add(string(annotation.type))
  }
  for (const [at, call] of list(message.tool_calls).entries()) {
    if (isUnknownCall(call)) {
      found.others.add(string(call.type))
      continue
    }
    const body = inner(call.function ?? call.custom)
    const key = call.index ?? at
    const known = calls.get(key) ?? { name: '', text: '', custom: isObject(call.custom) }
    known.name ||= string(body.name)
    known.text += typeof body.arguments === 'object' ? JSON.stringify(body.arguments) : string(body.arguments ?? body.input)
    calls.set(key, known)
  }
  for (const [field, each] of Object.entries(message))
    if (!messageFields.has(field) && !reasoningFields.has(field) && isFilled(each)) found.others.add(field)
}

function chat(found: Found, bodies: readonly JsonObject[]): void {
  const calls = new Map<unknown, { name: string; text: string; custom: boolean }>()
  for (const body of bodies) {
    if (body.error) found.isFailed = true
    const choice = list(body.choices)[0] ?? {}
    chatMessage(found, inner(choice.delta ?? choice.message ?? (typeof choice.text === 'string' ? { text: choice.text } : {})), calls)
    for (const field of ['related_questions', 'images', 'videos']) if (isFilled(body[field])) found.others.add(field)
    for (const link of Array.isArray(body.citations) ? (body.citations as readonly Json[]) : [])
      found.links.add(isObject(link) ? string(link.url) : string(link))
    for (const { url } of list(body.search_results)) found.links.add(string(url))
    const usage = inner(body.usage ?? inner(body.x_groq).usage)
    if (usage.prompt_tokens === undefined) continue
    // Some count reasoning in the total alone.
    const input = number(usage.prompt_tokens)
    found.usage = { input, output: Math.max(number(usage.completion_tokens), number(usage.total_tokens) - input) }
  }
  for (const { name, text, custom } of calls.values()) found.calls.push({ name, input: custom ? text : parsedInput(text) })
}

interface Block {
  readonly body: JsonObject
  text: string
  input: string
  readonly citations: JsonObject[]
}

/** The blocks of a message, whole or put together from a stream. */
function messageBlocks(bodies: readonly JsonObject[]): readonly Block[] {
  const blocks: Block[] = []
  const byIndex = new Map<unknown, Block>()
  const open = (body: JsonObject, index: unknown): void => {
    const input = isObject(body.input) && Object.keys(body.input).length > 0 ? JSON.stringify(body.input) : ''
    const block = { body, text: string(body.text), input, citations: [...list(body.citations)] }
    blocks.push(block)
    byIndex.set(index, block)
  }
  for (const [at, body] of bodies.entries()) {
    for (const [place, block] of list(body.content).entries()) open(block, `${at}:${place}`)
    if (body.type === 'content_block_start') open(inner(body.content_block), body.index)
    const block = byIndex.get(body.index)
    if (body.type !== 'content_block_delta' || !block) continue
    const { text, partial_json, citation } = inner(body.delta)
    block.text += string(text)
    block.input += string(partial_json)
    if (isObject(citation)) block.citations.push(citation)
  }
  return blocks
}

const countsOf = (usage: JsonObject): NonNullable<Holdings['usage']> => ({
  input: number(usage.input_tokens) + number(usage.cache_creation_input_tokens) + number(usage.cache_read_input_tokens),
  output: number(usage.output_tokens),
})

function messages(found: Found, recorded: readonly JsonObject[]): void {
  const bodies = firstAnswer(recorded, ({ type }) => type === 'message_stop')
  let usage: JsonObject = {}
  let hasEnd = false
  for (const body of bodies) {
    const stated = inner(body.usage ?? inner(body.message).usage)
    usage = { ...usage, ...Object.fromEntries(Object.entries(stated).filter(([, each]) => each !== null)) }
    hasEnd ||= body.type === 'message_delta' || typeof body.stop_reason === 'string'
    found.isFailed ||= body.type === 'error'
    const { stop_details } = inner(body.delta ?? body)
    found.text += string(inner(stop_details).explanation)
  }
  let words = ''
  for (const { body, text, input, citations } of messageBlocks(bodies)) {
    const type = string(body.type)
    if (type === 'text') words += text
    else if (type === 'tool_use') found.calls.push({ name: string(body.name), input: parsedInput(input) })
    else if (type !== 'thinking' && type !== 'redacted_thinking') found.others.add(type)
    for (const citation of citations) {
      const link = string(citation.url) || (/^https?:/.test(string(citation.source)) ? string(citation.source) : '')
      if (link !== '') found.links.add(link)
      else found.others.add(string(citation.type))
    }
  }
  found.text = words + found.text
  if (!hasEnd || usage.output_tokens === undefined) return
  found.totals = countsOf(usage)
  const compactions = list(usage.iterations).flatMap(step => (step.type === 'compaction' ? [countsOf(step)] : []))
  found.usage = [found.totals, ...compactions].reduce((sum, each) => ({ input: sum.input + each.input, output: sum.output + each.output }))
}

function geminiPart(found: Found, part: JsonObject): void {
  const blob = inner(part.inlineData)
  if (isObject(part.functionCall)) found.calls.push({ name: string(part.functionCall.name), input: part.functionCall.args ?? {} })
  else if (typeof part.text === 'string') found.text += part.thought === true ? '' : part.text
  else if (part.thought === true) found.others.add('thought')
  else if (string(blob.mimeType).startsWith('image/')) found.images.push(string(blob.data))
  else for (const [field, each] of Object.entries(part)) if (isObject(each)) found.others.add(field)
}

function gemini(found: Found, bodies: readonly JsonObject[]): void {
  for (const body of bodies) {
    if (body.error) found.isFailed = true
    const { content, groundingMetadata, urlContextMetadata } = list(body.candidates)[0] ?? {}
    for (const part of list(inner(content).parts)) geminiPart(found, part)
    const grounding = inner(groundingMetadata)
    for (const field of ['searchEntryPoint', 'webSearchQueries']) if (isFilled(grounding[field])) found.others.add(field)
    if (isFilled(inner(urlContextMetadata).urlMetadata)) found.others.add('urlContextMetadata')
    const usage = inner(body.usageMetadata)
    if (usage.promptTokenCount === undefined) continue
    const input = number(usage.promptTokenCount) + number(usage.toolUsePromptTokenCount)
    found.usage = { input, output: number(usage.candidatesTokenCount) + number(usage.thoughtsTokenCount) }
  }
}

function bedrock(found: Found, bodies: readonly JsonObject[]): void {
  const calls = new Map<unknown, { name: string; input: string }>()
  const known = new Set(['text', 'toolUse', 'reasoningContent', 'citationsContent', 'citation'])
  const note = (block: JsonObject): void => {
    for (const [field, each] of Object.entries(block)) {
      if (field === 'image') found.images.push(string(inner(inner(each).source).bytes))
      else if (!known.has(field)) found.others.add(field)
    }
  }
  for (const body of bodies) {
    const { delta, start, contentBlockIndex: index } = inner(body.contentBlockDelta ?? body.contentBlockStart)
    note({ ...inner(delta), ...inner(start) })
    found.text += string(inner(delta).text)
    if (isObject(start) && isObject(start.toolUse)) calls.set(index, { name: string(start.toolUse.name), input: '' })
    const call = calls.get(index)
    if (call) call.input += string(inner(inner(delta).toolUse).input)
    for (const [at, block] of list(inner(inner(body.output).message).content).entries()) {
      note(block)
      found.text += string(block.text)
      if (isObject(block.toolUse))
        calls.set(`whole:${at}`, { name: string(block.toolUse.name), input: JSON.stringify(block.toolUse.input ?? {}) })
    }
    const usage = inner(body.usage ?? inner(body.metadata).usage)
    if (usage.inputTokens !== undefined) {
      const input = number(usage.inputTokens) + number(usage.cacheReadInputTokens) + number(usage.cacheWriteInputTokens)
      found.usage = { input, output: number(usage.outputTokens) }
    }
  }
  for (const { name, input } of calls.values()) found.calls.push({ name, input: parsedInput(input) })
}

const readers: Readonly<Record<Recording['dialect'], (found: Found, bodies: readonly JsonObject[]) => void>> = {
  responses,
  chat,
  completions: chat,
  messages,
  gemini,
  bedrock,
  error: found => {
    found.isFailed = true
  },
}
