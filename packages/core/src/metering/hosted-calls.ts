import { allTools, isHosted, isOn, objects, toolTypeOf } from '@signalbox/dialects/common'
import type { HostedCalls, Prompt } from '@signalbox/dialects/protocol'
import { type HostedTool, hostedTools, isObject, type Json, type JsonObject, type Quirks } from '@signalbox/dialects/protocol'
import { maxHostedCalls } from './money.ts'

// Calls of hosted tools, and calls of the model beside that of the answer, which a request asks for: foreseen by its hold, and the most
// that its provider may count.

/** Other names of the kinds: OpenRouter (`openrouter:web_search`), Perplexity (`fetch_url`), Google, Alibaba, xAI (API references, 2026-11). */
const kindPatterns: readonly (readonly [HostedTool, RegExp])[] = [
  ['web_search', /web_?search|^search|^plugins$|(?:google|enable|x)_?search/i],
  ['web_fetch', /web_?fetch|fetch_?url|url_?context/i],
  ['file_search', /file_?search|collections_?search/i],
  ['code_interpreter', /code_?interpreter/i],
]

/** The kind of hosted tool from its type (which may carry a version suffix), or from the body field that enables it. */
const hostedKindOf = (type: string): HostedTool | undefined =>
  hostedTools.find(tool => type.startsWith(tool)) ?? kindPatterns.find(([, pattern]) => pattern.test(type))?.[0]

/** What names the kind of a tool: its type, or else its only field (`{ google_search: {} }`). */
const kindOfTool = (body: JsonObject): HostedTool | undefined => hostedKindOf(toolTypeOf(body) || (Object.keys(body)[0] ?? ''))

/** Assumed maximum calls of each hosted tool if the request names no limit. */
const usualCalls = 10

type CallsByKind = { [Kind in HostedTool]?: number }

/** Fields of a request that are sent as the client wrote them. */
const fieldsOf = ({ extensions, native }: Prompt): readonly string[] => {
  const fields: string[] = []
  for (const body of [extensions, native?.body]) if (body) for (const field in body) if (isOn(body[field])) fields.push(field)
  return fields
}

/** Adds the calls of each hosted tool, at most `unlimited` of one without a limit of its own (`max_uses`). */
function addCalls(calls: CallsByKind, prompt: Prompt, unlimited: number): void {
  const add = (kind: HostedTool | undefined, limit: Json | undefined): void => {
    if (!kind) return
    const more = typeof limit === 'number' && limit > 0 ? Math.ceil(limit) : unlimited
    calls[kind] = Math.min(maxHostedCalls, (calls[kind] ?? 0) + more)
  }
  for (const { body } of allTools(prompt).filter(isHosted)) add(kindOfTool(body), body.max_uses)
  for (const field of fieldsOf(prompt)) {
    const kind = hostedKindOf(field)
    if (kind) calls[kind] = Math.max(calls[kind] ?? 0, Math.min(maxHostedCalls, unlimited))
  }
}

/**
 * Hosted tool calls that the hold covers: as many as the tool (`max_uses`) or the request (`max_tool_calls`) allows, otherwise ten of
 * each tool. A kind without a price needs no hold. Undefined if the request asks for none.
 */
export function foreseenCalls(prompt: Prompt): HostedCalls | undefined {
  const calls: CallsByKind = {}
  addCalls(calls, prompt, prompt.max_tool_calls ?? usualCalls)
  return Object.keys(calls).length > 0 ? calls : undefined
}

const anyCalls: HostedCalls = Object.fromEntries(hostedTools.map(tool => [tool, maxHostedCalls]))

/**
 * The most hosted tool calls that a provider may count at an offer with these quirks: none of a kind that the request does not ask for.
 * `max_uses` is part of the tool and limits it; `max_tool_calls` does not, because some providers ignore it.
 */
export function maxCallsAt(prompt: Prompt, { extendsPrompt, fixedFields }: Quirks): HostedCalls {
  if (extendsPrompt || fixedFields?.tools !== undefined) return anyCalls
  const calls: CallsByKind = {}
  addCalls(calls, prompt, maxHostedCalls)
  for (const field in fixedFields) {
    const kind = hostedKindOf(field)
    if (kind) calls[kind] = maxHostedCalls
  }
  return calls
}

/** The calls up to the most of each kind. The same object if none is above, undefined if none is left. */
export function clampCalls(calls: HostedCalls | undefined, most: () => HostedCalls): HostedCalls | undefined {
  if (!calls) return undefined
  const allowed = most()
  if (hostedTools.every(tool => (calls[tool] ?? 0) <= (allowed[tool] ?? 0))) return calls
  const possible: CallsByKind = {}
  for (const tool of hostedTools) {
    const count = Math.min(calls[tool] ?? 0, allowed[tool] ?? 0)
    if (count > 0) possible[tool] = count
  }
  return Object.keys(possible).length > 0 ? possible : undefined
}

/** Calls of the model beside that of the answer, which a request allows: the bill of `extra_steps` is bounded by them. */
export interface AllowedSteps {
  readonly compactions: number
  /** Calls of an advisor, another model (Messages: `{ type: 'advisor_20260301', max_uses }`). */
  readonly advice: number
}

export const allowedSteps = (prompt: Prompt): AllowedSteps => ({
  compactions: hasCompaction(prompt.extensions) || hasCompaction(prompt.native?.body) ? 1 : 0,
  advice: allTools(prompt)
    .filter(isHosted)
    .reduce((sum, { body }) => (toolTypeOf(body).startsWith('advisor') ? sum + advisorCalls(body) : sum), 0),
})

const advisorCalls = ({ max_uses: limit }: JsonObject): number =>
  typeof limit === 'number' && limit > 0 ? Math.min(usualCalls, Math.ceil(limit)) : usualCalls

/** Whether the provider may compact the prompt before it answers: `context_management` of Messages or Responses, `compaction` of Messages. */
function hasCompaction({ context_management: managed, compaction }: JsonObject = {}): boolean {
  const edits = isObject(managed) ? managed.edits : managed
  return isObject(compaction) || objects(edits).some(({ type }) => typeof type === 'string' && type.startsWith('compact'))
}
