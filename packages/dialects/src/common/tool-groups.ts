import type { EventDecoder, ProviderDialect, ResponseMapping } from '../protocol/dialect.ts'
import type { InferenceEvent } from '../protocol/event.ts'
import type { FunctionCallItem, Item } from '../protocol/item.ts'
import { originalOf, remember } from '../protocol/original.ts'
import type { InferenceRequest, Prompt } from '../protocol/request.ts'
import type { FunctionTool, Native, Tool } from '../protocol/tool.ts'
import { innerDialect } from '../protocol/wire.ts'
import { withCustomTools, withToolAdapter } from './custom-tools.ts'
import { FreeNames, TextMap } from './fitted-names.ts'
import { objectIn } from './json.ts'
import { addUngrouped, allTools } from './paid-tools.ts'
import { hashed, hashSuffixLength } from './tool-names.ts'
import { withToolParameters } from './tool-parameters.ts'

// In the Responses API, tools come in groups (`namespace`), and some are added in mid-conversation (`additional_tools`). Other dialects
// have one list of tools. There, each tool of a group becomes an entry of the list, under a name that includes its group, and its calls
// become calls of the group's tool again. A tool search that the client runs is a function in that list: its calls become items of their own
// again, and what it found joins the list, with a result for the call.

/**
 * Wraps a dialect that only has a flat list of functions: tools of groups and of the conversation are added to the list, and custom tools
 * are sent as functions, all with parameters as `withToolParameters` makes them. Those that came in the dialect itself are unchanged.
 */
export const withFlatTools = (dialect: ProviderDialect): ProviderDialect =>
  withToolAdapter(withCustomTools(withToolParameters(dialect)), {
    mapping: 'groupedTools',
    encodeWith: encode => (request, offer, quirks) => {
      if (!needsFlattening(request.prompt, dialect.name)) return encode(request, offer, quirks)
      const { flat, groupedTools } = flatten(request, dialect.name)
      const encoded = encode(flat, offer, quirks)
      return { ...encoded, ...(groupedTools.size > 0 && { mapping: { ...encoded.mapping, groupedTools } }) }
    },
    readItem: grouped,
    readEvents: withGroupedCalls,
  })

/** The names of the custom tools of a prompt, in groups or not. */
export const customToolNames = (prompt: Prompt): ReadonlySet<string> =>
  new Set(allTools(prompt).flatMap(tool => (tool.type === 'function' && tool.custom ? [tool.name] : [])))

/**
 * Each tool once. A tool that was deferred and then found comes again: the last definition of a name in a group takes the place of the
 * first, since vendors refuse a name that comes twice.
 */
export function withoutDoubles(tools: readonly Tool[]): readonly Tool[] {
  const byName = new Map<Tool | string, Tool>()
  const groups = new ToolGroups()
  // Tools that only one dialect has have no names.
  for (const tool of tools) byName.set(tool.type === 'function' ? groups.keyOf(tool.namespace ?? '', tool.name) : tool, tool)
  return byName.size === tools.length ? tools : [...byName.values()]
}

/** Characters of the name of a group in the name of each of its tools. No vendor takes longer names of tools than 128. */
const maxGroupName = 64

interface ToolGroup {
  readonly number: number
  /** Its name, shortened. Two groups may share one. */
  readonly short: string
}

/** The groups of a prompt. Thousands of tools may be in a group whose name has thousands of characters, so it is hashed once. */
class ToolGroups {
  readonly #known = new TextMap<ToolGroup>()
  #count = 0

  named(namespace: string): ToolGroup {
    const known = this.#known.get(namespace)
    if (known) return known
    const short = namespace.length <= maxGroupName ? namespace : hashed(namespace, 0, maxGroupName - hashSuffixLength)
    const group = { number: this.#count++, short }
    this.#known.set(namespace, group)
    return group
  }

  /** Stands for one tool of one group. */
  keyOf(namespace: string, name: string): string {
    return `${this.named(namespace).number} ${name}`
  }
}

const bringsTools = (value: Item | Tool, dialect: string): boolean =>
  value.type === 'native' && value.tools !== undefined && value.dialect !== dialect

const needsFlattening = ({ input, tools = [] }: Prompt, dialect: string): boolean =>
  tools.some(tool => bringsTools(tool, dialect)) ||
  withoutDoubles(tools) !== tools ||
  input.some(item => bringsTools(item, dialect) || (item.type === 'function_call' && item.namespace !== undefined))

type GroupedTools = NonNullable<ResponseMapping['groupedTools']>
type MutableGroupedTools = Map<string, GroupedTools extends ReadonlyMap<string, infer Known> ? Known : never>

function flatten(request: InferenceRequest, dialect: string): { readonly flat: InferenceRequest; readonly groupedTools: GroupedTools } {
  const { prompt } = request
  const tools = withoutDoubles(allTools(prompt))
  const nameOf = namesIn(tools, prompt.input)
  const groupedTools: MutableGroupedTools = new Map()
  const named = <T extends FunctionTool | FunctionCallItem>(known: T): T => {
    const { namespace, ...plain } = known
    if (namespace === undefined) return known
    const name = nameOf(namespace, known.name)
    groupedTools.set(name, { namespace, name: known.name })
    return remember({ ...plain, name } as T, originalOf(known))
  }
  for (const tool of tools) if (tool.type === 'function' && tool.isToolSearch) groupedTools.set(tool.name, 'tool_search')
  const flat: Prompt = {
    ...prompt,
    input: prompt.input.flatMap((item): readonly Item[] => {
      if (item.type === 'native' && bringsTools(item, dialect)) return resultOf(item, tool => named(tool).name)
      return [item.type === 'function_call' ? named(item) : item]
    }),
    ...(tools.length > 0 && { tools: tools.map(tool => (tool.type === 'function' ? named(tool) : tool)) }),
  }
  return { flat: remember({ ...request, prompt: flat }, originalOf(request)), groupedTools }
}

/** The result of a search that the client ran: the names of what it found. */
function resultOf(item: Native, nameOf: (tool: FunctionTool) => string): readonly Item[] {
  const { answers, tools = [] } = item
  if (answers === undefined) return []
  const names = addUngrouped([], tools).flatMap(tool => (tool.type === 'function' ? nameOf(tool) : []))
  const output = names.length > 0 ? `Found these tools, which can be called now: ${names.join(', ')}` : 'Found no tools.'
  return [remember<Item>({ type: 'function_call_output', call_id: answers, output }, originalOf(item))]
}

/** The group whose tools OpenAI's models know without the group name. */
const plainGroup = 'functions'

/** Assigns the names of group tools; a name that is taken, by a tool or call without a group too, gets a hash. */
function namesIn(tools: readonly Tool[], input: readonly Item[]): (namespace: string, name: string) => string {
  const ungroupedNames = [...tools, ...input].flatMap(each =>
    (each.type === 'function' || each.type === 'function_call') && each.namespace === undefined ? [each.name] : [],
  )
  const free = new FreeNames(ungroupedNames)
  const given = new Map<string, string>()
  const groups = new ToolGroups()
  return (namespace, name) => {
    const key = groups.keyOf(namespace, name)
    const known = given.get(key)
    if (known !== undefined) return known
    const { short } = groups.named(namespace)
    const joined = short.endsWith('__') ? `${short}${name}` : `${short}__${name}`
    const wanted = short === plainGroup ? name : joined
    const seed = JSON.stringify([short, name])
    const sent = free.take(attempt => (attempt === 0 ? wanted : hashed(seed, attempt - 1, 40)))
    given.set(key, sent)
    return sent
  }
}

function grouped(item: Item, tools: GroupedTools): Item {
  const tool = item.type === 'function_call' ? tools.get(item.name) : undefined
  if (item.type !== 'function_call' || !tool) return item
  return tool === 'tool_search' ? searchCall(item) : remember({ ...item, ...tool } as FunctionCallItem, originalOf(item))
}

/** A call of the client's tool search. Its arguments are an object; text that is none is sent as it is. */
const searchCall = ({ call_id, arguments: written, status = 'completed' }: FunctionCallItem): Native => ({
  type: 'native',
  dialect: innerDialect,
  body: { type: 'tool_search_call', call_id, execution: 'client', status, arguments: objectIn(written === '' ? '{}' : written) ?? written },
})

/** Wraps a decoder so that calls of these tools become calls of their group's tools, and a tool search has no pieces of arguments. */
function withGroupedCalls(decoder: EventDecoder, tools: GroupedTools): EventDecoder {
  const searches = new Set<number>()
  const named = (events: readonly InferenceEvent[]): readonly InferenceEvent[] =>
    events.flatMap(event => {
      if (event.type === 'delta' && searches.has(event.index)) return []
      if (event.type !== 'item_started' && event.type !== 'item_finished') return event
      const item = grouped(event.item, tools)
      if (item.type === 'native' && item !== event.item) searches.add(event.index)
      return { ...event, item }
    })
  return { read: frames => named(decoder.read(frames)), end: () => named(decoder.end()) }
}
