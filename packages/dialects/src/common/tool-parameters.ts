import type { EventDecoder, ProviderDialect, ResponseMapping } from '../protocol/dialect.ts'
import type { InferenceEvent } from '../protocol/event.ts'
import type { FunctionCallItem, Item } from '../protocol/item.ts'
import type { Quirks } from '../protocol/model.ts'
import { originalOf, pathOf, remember } from '../protocol/original.ts'
import type { InferenceRequest, Prompt } from '../protocol/request.ts'
import type { Warning } from '../protocol/response.ts'
import type { FunctionTool, Tool } from '../protocol/tool.ts'
import type { JsonObject } from '../protocol/wire.ts'
import { withToolAdapter } from './custom-tools.ts'
import { makeSchemaFitter, schemaWarnings } from './fit-schemas.ts'
import { endRenaming, type KeyRenamer, plainPropertyNames, renameKeys, renameKeysIn, startRenaming } from './property-names.ts'
import { isPlainRoot } from './schema-root.ts'

/** Whether a schema can be the parameters of a tool as it is. */
export const isPlainParameters = (schema: JsonObject): boolean => isPlainRoot(schema) && plainPropertyNames(schema).size === 0

/**
 * Wraps a dialect so that the parameters of tools from other dialects meet the rules for their root and for the names of their properties.
 * Calls get the client's names again. Tools that came in the dialect itself are unchanged.
 */
export const withToolParameters = (dialect: ProviderDialect): ProviderDialect =>
  withToolAdapter(dialect, {
    mapping: 'propertyNames',
    encodeWith: encode => (request, offer, quirks) => {
      const fitted = request.prompt.tools && fittedTools(request, dialect.name, quirks)
      if (!fitted) return encode(request, offer, quirks)
      const { prompt, propertyNames, warnings } = fitted
      const encoded = encode(remember({ ...request, prompt }, originalOf(request)), offer, quirks)
      return {
        ...encoded,
        warnings: [...encoded.warnings, ...warnings],
        ...(propertyNames.size > 0 && { mapping: { ...encoded.mapping, propertyNames } }),
      }
    },
    readItem: (item, known) => {
      const names = namesFor(item, known)
      return names ? withArguments(item as FunctionCallItem, renameKeys((item as FunctionCallItem).arguments, names)) : item
    },
    readEvents: withClientNames,
  })

type PropertyNames = NonNullable<ResponseMapping['propertyNames']>

interface FittedTools {
  readonly prompt: Prompt
  readonly propertyNames: PropertyNames
  readonly warnings: readonly Warning[]
}

/** The prompt with other parameters; undefined if nothing has to change. */
function fittedTools(
  { prompt, schemas = makeSchemaFitter() }: InferenceRequest,
  dialect: string,
  { plainProperties }: Quirks,
): FittedTools | undefined {
  const { tools = [], input } = prompt
  const isForeign = (value: object): boolean => originalOf(value)?.dialect !== dialect
  const warnings: Warning[] = []
  const sentNames = new Map<string, ReadonlyMap<string, string>>()
  const fitted = tools.map((tool, index): Tool => {
    if (tool.type !== 'function' || !tool.parameters || !isForeign(tool)) return tool
    const root = isPlainRoot(tool.parameters) ? { schema: tool.parameters, changes: [] } : schemas.root(tool.parameters)
    const { schema: parameters, changes, names } = plainProperties ? schemas.withPlainNames(root.schema) : { ...root, names: noNames }
    if (names.size > 0) sentNames.set(tool.name, names)
    warnings.push(
      ...schemaWarnings(`${pathOf(tool, `tools[${index}]`)}.parameters`, {
        schema: parameters,
        changes: [...new Set([...root.changes, ...changes])],
      }),
    )
    return parameters === tool.parameters ? tool : remember<FunctionTool>({ ...tool, parameters }, originalOf(tool))
  })
  if (fitted.every((tool, index) => tool === tools[index])) return undefined
  const renamedCall = (item: Item): Item => {
    const names = isForeign(item) ? namesFor(item, sentNames) : undefined
    return names ? withArguments(item as FunctionCallItem, renameKeys((item as FunctionCallItem).arguments, names)) : item
  }
  return {
    prompt: { ...prompt, tools: fitted, ...(sentNames.size > 0 && { input: input.map(renamedCall) }) },
    propertyNames: new Map([...sentNames].map(([tool, names]) => [tool, new Map([...names].map(([name, sent]) => [sent, name]))])),
    warnings,
  }
}

const noNames: ReadonlyMap<string, string> = new Map()

const namesFor = (item: Item, known: PropertyNames): ReadonlyMap<string, string> | undefined =>
  item.type === 'function_call' ? known.get(item.name) : undefined

const withArguments = (call: FunctionCallItem, text: string): Item =>
  remember<FunctionCallItem>({ ...call, arguments: text }, originalOf(call))

/** Wraps a decoder so that the arguments of these tools have the client's names, in every piece. */
function withClientNames(decoder: EventDecoder, known: PropertyNames): EventDecoder {
  const open = new Map<number, KeyRenamer>()
  const rename = (events: readonly InferenceEvent[]): readonly InferenceEvent[] =>
    open.size > 0 || events.some(event => event.type === 'item_started') ? events.flatMap(event => renameEvent(open, known, event)) : events
  return { read: frames => rename(decoder.read(frames)), end: () => rename(decoder.end()) }
}

function renameEvent(open: Map<number, KeyRenamer>, known: PropertyNames, event: InferenceEvent): readonly InferenceEvent[] {
  if (event.type === 'item_started') {
    const names = namesFor(event.item, known)
    if (names) open.set(event.index, startRenaming(names))
    return [event]
  }
  const renamer = 'index' in event && event.index !== undefined ? open.get(event.index) : undefined
  if (!renamer) return [event]
  if (event.type === 'delta' && event.delta.kind === 'arguments')
    return argumentsDelta(event.index, renameKeysIn(renamer, event.delta.text))
  if (event.type !== 'item_finished' || event.item.type !== 'function_call') return [event]
  open.delete(event.index)
  const item = withArguments(event.item, renameKeys(event.item.arguments, renamer.names))
  return [...argumentsDelta(event.index, endRenaming(renamer)), { ...event, item }]
}

const argumentsDelta = (index: number, text: string): readonly InferenceEvent[] =>
  text === '' ? [] : [{ type: 'delta', index, delta: { kind: 'arguments', part: 0, text } }]
