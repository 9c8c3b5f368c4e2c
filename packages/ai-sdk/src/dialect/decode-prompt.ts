import {
  anyText,
  arrayOf,
  earlierItem,
  literalOf,
  nonEmptyText,
  objectValue,
  optional,
  type Read,
  refuse,
  required,
} from '@signalbox/dialects/common'
import {
  type FunctionCallOutputItem,
  type Item,
  isObject,
  type Json,
  type JsonObject,
  type MessageItem,
  type Part,
  type ReasoningItem,
  remember,
} from '@signalbox/dialects/protocol'
import { decodeParts, decodePromptPart } from './decode-parts.ts'
import { cachePointOf, type LostOptions, noteLost, noteLostOptions } from './provider-options.ts'
import { dialect, ownOptions } from './wire.ts'

// Decodes the messages of a prompt into items of a conversation.

export function decodePrompt(value: Json, path: string, lost: LostOptions): readonly Item[] {
  const messages = arrayOf((entry, at) => decodePromptMessage({ body: objectValue(entry, at), path: at, lost }))(value, path)
  return messages.length > 0 ? messages.flat() : refuse('invalid_parameter_value', `\`${path}\` must hold at least one message.`, path)
}

/** A message or a part of one, with its path in the call. */
interface PartAtPath {
  readonly body: JsonObject
  readonly path: string
  readonly lost: LostOptions
}

function decodePromptMessage(place: PartAtPath): readonly Item[] {
  const { body, path, lost } = place
  noteLostOptions(body, 'prompt[*]', lost)
  const role = required(place, 'role', literalOf('system', 'user', 'assistant', 'tool'))
  if (role === 'system')
    return [promptMessage(place, 'system', withCache([{ type: 'text', text: required(place, 'content', anyText) }], body))]
  const parts = required(place, 'content', arrayOf(objectValue)).map((part, index) => ({
    body: part,
    path: `${path}.content[${index}]`,
    lost,
  }))
  for (const part of parts) noteLostOptions(part.body, 'prompt[*].content[*]', lost)
  if (role === 'user') return [promptMessage(place, 'user', withCache(decodeParts(parts), body))]
  return withItemCache(role === 'assistant' ? decodeAssistant(place, parts) : parts.flatMap(decodeToolPart), body)
}

const promptMessage = ({ body, path }: PartAtPath, role: MessageItem['role'], content: readonly Part[]): MessageItem =>
  remember({ type: 'message', role, content }, { dialect, body, path })

/** A cache point of a message applies to its last part. */
function withCache(parts: readonly Part[], body: JsonObject): readonly Part[] {
  const cache = cachePointOf(body)
  const last = parts.at(-1)
  return cache && last && last.type !== 'native' && last.type !== 'refusal' ? [...parts.slice(0, -1), { ...last, cache }] : parts
}

function withItemCache(items: readonly Item[], body: JsonObject): readonly Item[] {
  const cache = cachePointOf(body)
  const last = items.at(-1)
  if (!cache || !last) return items
  if (last.type === 'message') return [...items.slice(0, -1), { ...last, content: withCache(last.content, body) }]
  return last.type === 'function_call' || last.type === 'function_call_output' ? [...items.slice(0, -1), { ...last, cache }] : items
}

/** Consecutive texts form one message; reasoning and calls are separate items, in order. */
function decodeAssistant(place: PartAtPath, parts: readonly PartAtPath[]): readonly Item[] {
  const items: Item[] = []
  let texts: PartAtPath[] = []
  let reasoning: ReasoningParts | undefined
  const flush = (): void => {
    if (texts.length > 0) items.push(assistantMessage(place, texts))
    if (reasoning) items.push(decodeReasoning(reasoning))
    texts = []
    reasoning = undefined
  }
  for (const part of parts) {
    const { type } = part.body
    if (type === 'text' || type === 'file') {
      if (reasoning || (texts[0] && phaseOf(texts[0]) !== phaseOf(part))) flush()
      texts.push(part)
    } else if (type === 'reasoning') {
      const { itemId } = ownOptions(part.body)
      if (texts.length > 0 || reasoning?.itemId === undefined || reasoning.itemId !== itemId) flush()
      reasoning ??= { itemId: typeof itemId === 'string' ? itemId : undefined, parts: [] }
      reasoning.parts.push(part)
    } else {
      flush()
      items.push(...decodeOtherPart(part))
    }
  }
  flush()
  return items.length > 0 ? items : [promptMessage(place, 'assistant', [])]
}

const phaseOf = ({ body }: PartAtPath): MessageItem['phase'] => {
  const { phase } = ownOptions(body)
  return phase === 'commentary' || phase === 'final_answer' ? phase : undefined
}

function assistantMessage(place: PartAtPath, texts: readonly PartAtPath[]): MessageItem {
  const content = decodeParts(texts)
  const phase = texts[0] && phaseOf(texts[0])
  return remember({ type: 'message', role: 'assistant', content, phase }, { dialect, body: place.body, path: place.path })
}

/** The reasoning parts of one item. */
interface ReasoningParts {
  readonly itemId: string | undefined
  readonly parts: PartAtPath[]
}

/** Decodes reasoning: its texts, and its sealed state if the gateway sent one. */
function decodeReasoning({ parts }: ReasoningParts): ReasoningItem {
  const summary: string[] = []
  const content: string[] = []
  let state: string | undefined
  for (const part of parts) {
    const own = ownOptions(part.body)
    const text = required(part, 'text', anyText)
    if (text !== '') (own.raw === true ? content : summary).push(text)
    if (typeof own.state === 'string') state = own.state
  }
  const item: ReasoningItem = { type: 'reasoning', summary, content: content.length > 0 ? content : undefined, encrypted_content: state }
  const [first] = parts
  return remember(item, first && { dialect, body: first.body, path: first.path })
}

/** Decodes the other parts of an assistant message. */
function decodeOtherPart(part: PartAtPath): readonly Item[] {
  const { body, path, lost } = part
  const type = required(part, 'type', literalOf('tool-call', 'tool-result', 'custom', 'reasoning-file'))
  if (type === 'tool-call') return [decodeCallPart(part)]
  if (type === 'tool-result') return decodeToolPart(part)
  const { item } = ownOptions(body)
  // An item of a response. References to items are excluded, because they could name an item of another workspace.
  if (isObject(item) && typeof item.dialect === 'string' && isObject(item.body) && item.body.type !== 'item_reference')
    return [remember(earlierItem(item.dialect, item.body), { dialect, body, path })]
  noteLost(lost, `${path} (${type})`)
  return []
}

function decodeCallPart(part: PartAtPath): Item {
  const { body, path } = part
  const { input } = body
  const cache = cachePointOf(body)
  return remember(
    {
      type: 'function_call',
      call_id: required(part, 'toolCallId', nonEmptyText),
      name: required(part, 'toolName', nonEmptyText),
      // For a call that could not be parsed, the SDK sends the model's text.
      arguments: typeof input === 'string' ? input : JSON.stringify(input ?? {}),
      cache,
    },
    { dialect, body, path },
  )
}

function decodeToolPart(part: PartAtPath): readonly Item[] {
  const { body, path, lost } = part
  const type = required(part, 'type', literalOf('tool-result', 'tool-approval-response'))
  if (type === 'tool-approval-response') {
    // The SDK runs approved tools itself, and sends their results next to this part.
    noteLost(lost, `${path} (${type})`)
    return []
  }
  const call_id = required(part, 'toolCallId', nonEmptyText)
  const output = required(part, 'output', decodeToolOutput(lost))
  const cache = cachePointOf(body) ?? optional(part, 'output', readCache)
  return [remember({ type: 'function_call_output', call_id, ...output, cache }, { dialect, body, path })]
}

const readCache: Read<ReturnType<typeof cachePointOf>> = value => (isObject(value) ? cachePointOf(value) : undefined)

type ToolOutput = Pick<FunctionCallOutputItem, 'output' | 'is_error'>

/** The `output` of a tool result: text, JSON as text, parts, or an error. */
const decodeToolOutput =
  (lost: LostOptions): Read<ToolOutput> =>
  (value, path) => {
    const body = objectValue(value, path)
    const place = { body, path }
    const type = required(place, 'type', literalOf('text', 'json', 'error-text', 'error-json', 'execution-denied', 'content'))
    if (type === 'execution-denied')
      return { output: optional(place, 'reason', anyText) ?? 'The user denied the execution of the tool.', is_error: true }
    if (type === 'content') return { output: required(place, 'value', arrayOf(decodeOutputPart(lost))).flat() }
    const output = type === 'text' || type === 'error-text' ? required(place, 'value', anyText) : JSON.stringify(body.value ?? null)
    return { output, is_error: type.startsWith('error') || undefined }
  }

const decodeOutputPart =
  (lost: LostOptions): Read<readonly Part[]> =>
  (value, path) => {
    const body = objectValue(value, path)
    noteLostOptions(body, 'prompt[*].content[*].output.value[*]', lost)
    if (required({ body, path }, 'type', literalOf('text', 'file', 'custom')) !== 'custom') return [decodePromptPart({ body, path })]
    noteLost(lost, `${path} (custom)`)
    return []
  }
