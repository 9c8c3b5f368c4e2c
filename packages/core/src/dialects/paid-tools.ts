import { type HostedTool, hostedTools, type Rates } from '../protocol/model.ts'
import { pathOf } from '../protocol/original.ts'
import type { Prompt, Tool } from '../protocol/request.ts'
import { type DialectName, type Json, type JsonObject, own } from '../protocol/wire.ts'

// Tools that a provider runs itself and charges for. The operator pays for them, so a kind without a price is free to the client.

/** Native tools that the client runs: only their name and schema are in the prompt. */
const runByClients = /^(?:custom|bash|text_editor|computer|memory|local_shell|shell|apply_patch|str_replace)/

/** Whether the provider runs a tool. */
export const isHosted = (tool: Tool): boolean => tool.type === 'native' && !runByClients.test(toolTypeOf(tool.body))

/**
 * Fields of a Chat Completions body with which a provider runs a tool. Its responses do not count the calls. `web_search_options`: OpenAI;
 * `plugins`: OpenRouter; `search_parameters`: xAI; `enable_search`: Alibaba (API references, November 2026).
 */
const paidFields: readonly string[] = ['web_search_options', 'plugins', 'search_parameters', 'enable_search']

const isOn = (value: Json | undefined): boolean =>
  value !== undefined && value !== null && value !== false && !(Array.isArray(value) && value.length === 0)

/** The fields of a request that make a provider of this dialect run a tool, as paths in the body. */
export function paidFieldsOf({ native, extensions }: Prompt, dialect: DialectName): readonly string[] {
  if (dialect !== 'chat' || (!native && !extensions)) return noPaidFields
  const inBody = native?.dialect === 'chat' ? paidFields.filter(field => isOn(own(native.body, field))) : noPaidFields
  return extensions ? [...inBody, ...paidFields.filter(field => isOn(own(extensions, field))).map(field => `extensions.${field}`)] : inBody
}

const noPaidFields: readonly string[] = []

interface PricedDialect {
  readonly dialect: DialectName
  readonly price?: Rates
}

/** The path of the first tool that the provider runs and whose calls have no price in the offer, or cannot be counted. */
export function unpricedToolOf(prompt: Prompt, { dialect, price }: PricedDialect): string | undefined {
  const [field] = paidFieldsOf(prompt, dialect)
  if (field !== undefined) return field
  const isPriced = (tool: Tool): boolean => {
    const kind = tool.type === 'native' ? hostedKind(toolTypeOf(tool.body)) : undefined
    return kind !== undefined && own(price?.tools ?? {}, kind) !== undefined
  }
  const at = prompt.tools?.findIndex(tool => tool.type === 'native' && !tool.tools && isHosted(tool) && !isPriced(tool)) ?? -1
  const tool = prompt.tools?.[at]
  return tool && pathOf(tool, `tools[${at}]`)
}

const hostedKind = (type: string): HostedTool | undefined => hostedTools.find(kind => type.startsWith(kind))

const toolTypeOf = ({ type }: JsonObject): string => (typeof type === 'string' ? type : '')
