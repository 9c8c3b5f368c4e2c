import { type HostedTool, hostedTools, type Rates } from '../protocol/model.ts'
import { pathOf } from '../protocol/original.ts'
import type { Prompt } from '../protocol/request.ts'
import type { Native, Tool } from '../protocol/tool.ts'
import { type DialectName, isObject, type Json, type JsonObject, own } from '../protocol/wire.ts'

// Tools that a provider runs itself and charges for. The operator pays for them, so a kind without a price is free to the client.

/**
 * Native tools that the client runs: only their name and schema are in the prompt. The type may end with a version (OpenAI, Anthropic: API
 * references, November 2026).
 */
const runByClients =
  /^(?:custom|bash|text_editor|computer(?:[_-]use)?(?:[_-]preview)?|memory|local_shell|shell|apply_patch|str_replace\w*)(?:[_-]\d[\d_-]*)?$/

/** A shell in a container of the provider: `container_auto`, `container_reference` (OpenAI, the shell tool). */
const isInContainer = ({ environment }: JsonObject): boolean =>
  isObject(environment) && typeof environment.type === 'string' && environment.type.startsWith('container')

/** Whether the provider runs a tool. */
export const isHosted = (tool: Tool): tool is Native =>
  tool.type === 'native' && (!runByClients.test(toolTypeOf(tool.body)) || isInContainer(tool.body))

/** All tools of a prompt: those of its list, of groups, and of items that add tools in mid-conversation. */
export function allTools({ input, tools }: Prompt): readonly Tool[] {
  const found: Tool[] = []
  if (tools) addUngrouped(found, tools)
  for (const item of input) if (item.type === 'native' && item.tools) addUngrouped(found, item.tools)
  return found
}

/** Adds the tools of a list, with those of its groups instead of the groups. */
export function addUngrouped(found: Tool[], tools: readonly Tool[]): readonly Tool[] {
  for (const tool of tools) {
    if (tool.type === 'native' && tool.tools) addUngrouped(found, tool.tools)
    else found.push(tool)
  }
  return found
}

/** Whether a prompt has tools, in its list or in mid-conversation. */
export const bringsTools = ({ input, tools }: Prompt): boolean =>
  tools !== undefined || input.some(item => item.type === 'native' && item.tools !== undefined)

/**
 * Body fields with which a provider runs a tool. Its responses do not count the calls. `web_search_options`: OpenAI; `plugins`: OpenRouter, in
 * each of its APIs; `search_parameters`: xAI; `enable_search`: Alibaba; `search_settings`, `compound_custom`: Groq; `web_search`: Baidu,
 * Moonshot and others (API references, November 2026).
 */
const paidFields: readonly string[] = [
  'web_search_options',
  'plugins',
  'search_parameters',
  'enable_search',
  'search_settings',
  'compound_custom',
  'web_search',
]

/** Whether the value of a field switches something on. `web_search: { enable: false }` does not. */
export const isOn = (value: Json | undefined): boolean => {
  if (value === undefined || value === null || value === false) return false
  if (Array.isArray(value)) return value.length > 0
  return !(isObject(value) && value.enable === false && Object.keys(value).length === 1)
}

/** The fields of a request that make a provider of this dialect run a tool, as paths in the body. */
export function paidFieldsOf({ native, extensions }: Prompt, dialect: DialectName): readonly string[] {
  if (!native && !extensions) return noPaidFields
  const inBody = native?.dialect === dialect ? paidFields.filter(field => isOn(own(native.body, field))) : noPaidFields
  return extensions ? [...inBody, ...paidFields.filter(field => isOn(own(extensions, field))).map(field => `extensions.${field}`)] : inBody
}

const noPaidFields: readonly string[] = []

interface PricedApi {
  readonly api: DialectName
  readonly price?: Rates
}

/** Dialects whose responses count the calls of hosted tools. */
const countingDialects: ReadonlySet<DialectName> = new Set(['responses', 'messages', 'gemini'])

/** The path of the first tool that the provider runs and whose calls have no price in the offer, or cannot be counted. */
export function unpricedToolOf(prompt: Prompt, { api: dialect, price }: PricedApi): string | undefined {
  const [field] = paidFieldsOf(prompt, dialect)
  if (field !== undefined) return field
  const isPriced = ({ body }: Native): boolean => {
    const kind = countingDialects.has(dialect) ? hostedKind(toolTypeOf(body)) : undefined
    return kind !== undefined && own(price?.tools ?? {}, kind) !== undefined
  }
  const tool = allTools(prompt).find((each): each is Native => isHosted(each) && !isPriced(each))
  return tool && pathOf(tool, `tools[${prompt.tools?.indexOf(tool) ?? 0}]`)
}

const hostedKind = (type: string): HostedTool | undefined => hostedTools.find(kind => type.startsWith(kind))

/** The `type` of a tool; empty if it has none. */
export const toolTypeOf = ({ type }: JsonObject): string => (typeof type === 'string' ? type : '')
