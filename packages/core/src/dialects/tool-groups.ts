import type { EventDecoder, ProviderDialect, ResponseMapping } from '../protocol/dialect.ts'
import type { InferenceEvent } from '../protocol/event.ts'
import type { FunctionCallItem, Item } from '../protocol/item.ts'
import { originalOf, remember } from '../protocol/original.ts'
import type { FunctionTool, InferenceRequest, Prompt, Tool } from '../protocol/request.ts'
import { withCustomTools, withToolAdapter } from './custom-tools.ts'
import { hashed } from './tool-names.ts'

// In the Responses API, tools come in groups (`namespace`), and some are added in mid-conversation (`additional_tools`). Other dialects
// have one list of tools. There, each tool of a group becomes an entry of the list, under a name that includes its group, and its calls
// become calls of the group's tool again.

/**
 * Wraps a dialect that only has a flat list of functions: tools of groups and of the conversation are added to the list, and custom tools
 * are sent as functions. Those that came in the dialect itself are unchanged.
 */
export const withFlatTools = (dialect: ProviderDialect): ProviderDialect =>
  withToolAdapter(withCustomTools(dialect), {
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

/**
 * All tools of a prompt, including those of groups and of the conversation. A tool that was deferred and then found comes again: the last
 * definition of a name in a group takes the place of the first, since vendors refuse a name that comes twice.
 */
function allTools({ input, tools = [] }: Prompt): readonly Tool[] {
  const added = input.flatMap(item => (item.type === 'native' && item.tools ? item.tools : []))
  return withoutDoubles([...tools, ...added].flatMap(ungrouped))
}

/** Each tool once, with its last definition. */
export function withoutDoubles(tools: readonly Tool[]): readonly Tool[] {
  const byName = new Map<Tool | string, Tool>()
  for (const tool of tools) byName.set(keyOf(tool) ?? tool, tool)
  return byName.size === tools.length ? tools : [...byName.values()]
}

/** The name of a function in its group. Undefined for tools that only one dialect has. */
const keyOf = (tool: Tool): string | undefined => (tool.type === 'function' ? JSON.stringify([tool.namespace ?? '', tool.name]) : undefined)

const ungrouped = (tool: Tool): readonly Tool[] => (tool.type === 'native' && tool.tools ? tool.tools.flatMap(ungrouped) : [tool])

const bringsTools = (value: Item | Tool, dialect: string): boolean =>
  value.type === 'native' && value.tools !== undefined && value.dialect !== dialect

const needsFlattening = ({ input, tools = [] }: Prompt, dialect: string): boolean =>
  tools.some(tool => bringsTools(tool, dialect)) ||
  withoutDoubles(tools) !== tools ||
  input.some(item => bringsTools(item, dialect) || (item.type === 'function_call' && item.namespace !== undefined))

type GroupedTools = NonNullable<ResponseMapping['groupedTools']>

function flatten(request: InferenceRequest, dialect: string): { readonly flat: InferenceRequest; readonly groupedTools: GroupedTools } {
  const { prompt } = request
  const tools = allTools(prompt)
  const nameOf = namesIn(tools)
  const groupedTools = new Map<string, { readonly namespace: string; readonly name: string }>()
  const named = <T extends FunctionTool | FunctionCallItem>(known: T): T => {
    const { namespace, ...plain } = known
    if (namespace === undefined) return known
    const name = nameOf(namespace, known.name)
    groupedTools.set(name, { namespace, name: known.name })
    return remember({ ...plain, name } as T, originalOf(known))
  }
  const flat: Prompt = {
    ...prompt,
    input: prompt.input.flatMap((item): readonly Item[] => {
      if (bringsTools(item, dialect)) return []
      return [item.type === 'function_call' ? named(item) : item]
    }),
    ...(tools.length > 0 && { tools: tools.map(tool => (tool.type === 'function' ? named(tool) : tool)) }),
  }
  return { flat: remember({ ...request, prompt: flat }, originalOf(request)), groupedTools }
}

/** The group whose tools OpenAI's models know without the group name. */
const plainGroup = 'functions'

/** Assigns the names of group tools; a name that is taken gets a hash. */
function namesIn(tools: readonly Tool[]): (namespace: string, name: string) => string {
  const taken = new Set(tools.flatMap(tool => (tool.type === 'function' && tool.namespace === undefined ? [tool.name] : [])))
  const given = new Map<string, string>()
  return (namespace, name) => {
    const key = JSON.stringify([namespace, name])
    const known = given.get(key)
    if (known !== undefined) return known
    const joined = namespace.endsWith('__') ? `${namespace}${name}` : `${namespace}__${name}`
    const wanted = namespace === plainGroup ? name : joined
    const sent = taken.has(wanted) ? hashed(key, 40) : wanted
    taken.add(sent)
    given.set(key, sent)
    return sent
  }
}

function grouped(item: Item, tools: GroupedTools): Item {
  const tool = item.type === 'function_call' ? tools.get(item.name) : undefined
  return tool ? remember({ ...item, ...tool } as FunctionCallItem, originalOf(item)) : item
}

/** Wraps a decoder so that calls of these tools become calls of their group's tools. */
function withGroupedCalls(decoder: EventDecoder, tools: GroupedTools): EventDecoder {
  const named = (events: readonly InferenceEvent[]): readonly InferenceEvent[] =>
    events.map(event =>
      event.type === 'item_started' || event.type === 'item_finished' ? { ...event, item: grouped(event.item, tools) } : event,
    )
  return { read: frames => named(decoder.read(frames)), end: () => named(decoder.end()) }
}
