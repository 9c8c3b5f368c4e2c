import { isObject, type Json, type JsonObject } from '@signalbox/dialects/protocol'

// What vendors refuse in a request, by dialect and model. It does not read the quirks of the rows: it is what they are held to. A source is
// a page of the vendor or an answer of its API.

export interface RefusalRow {
  readonly id: string
  readonly dialect: string
  /** Undefined: every model. */
  readonly models?: RegExp
  /** Checked in translated requests alone: a client of the dialect itself gets sent what it wrote. */
  readonly translated?: true
  /** What is refused in the body. */
  readonly find: (body: JsonObject) => readonly unknown[]
}

const list = (value: Json | undefined): readonly JsonObject[] =>
  Array.isArray(value) ? (value as readonly Json[]).filter(each => isObject(each)) : []
const object = (value: Json | undefined): JsonObject => (isObject(value) ? value : {})
const texts = (value: Json | undefined): readonly string[] =>
  Array.isArray(value) ? (value as readonly Json[]).filter(each => typeof each === 'string') : []
const isBlank = (value: Json | undefined): boolean => typeof value === 'string' && value.trim() === ''
const doubles = (names: readonly Json[]): readonly unknown[] => names.filter((name, at) => names.indexOf(name) !== at)
const keysIn = (value: Json | undefined, key: string): readonly Json[] => {
  if (Array.isArray(value)) return (value as readonly Json[]).flatMap(each => keysIn(each, key))
  if (!isObject(value)) return []
  return Object.entries(value).flatMap(([name, each]) => [...(name === key ? [each ?? null] : []), ...keysIn(each, key)])
}

/** Since 4.6, 4.7 and so on: models of the list in offers.ts. */
const since46 = /claude-(opus-4-[67]|(opus|sonnet|haiku|fable)-[5-9])/
const since47 = /claude-(opus-4-7|(opus|sonnet|haiku|fable)-[5-9])/
const allClaude = /claude-/

const oddRoot = (schema: JsonObject): readonly unknown[] =>
  schema.type === 'object' && ['anyOf', 'oneOf', 'allOf', '$ref'].every(key => schema[key] === undefined) ? [] : [schema]
const oddProperties = (schema: JsonObject): readonly unknown[] => [
  ...Object.keys(object(schema.properties)).filter(name => !/^[a-zA-Z0-9_.-]{1,64}$/.test(name)),
  ...texts(schema.required).filter(name => isObject(schema.properties) && !Object.hasOwn(schema.properties, name)),
]

/** Calls without a result in the next turn, results without a call in the turn before, and ids that occur twice. */
function unpaired(turns: readonly { readonly calls: readonly Json[]; readonly results: readonly Json[] }[]): readonly unknown[] {
  const wrong = turns.flatMap(({ calls, results }, at) => {
    const next = turns[at + 1]?.results ?? []
    const before = turns[at - 1]?.calls ?? []
    return [...calls.filter(id => !next.includes(id)), ...results.filter(id => !before.includes(id)), ...doubles(results)]
  })
  return [...wrong, ...doubles(turns.flatMap(({ calls }) => calls))]
}

const blocks = (message: JsonObject): readonly JsonObject[] => list(message.content)
const blocksOf = (body: JsonObject): readonly JsonObject[] => list(body.messages).flatMap(blocks)
const idsOf = (all: readonly JsonObject[], field: string): readonly Json[] => all.map(each => each[field] ?? null)
const repeatedRoles = (turns: readonly JsonObject[]): readonly unknown[] => turns.filter(({ role }, at) => turns[at - 1]?.role === role)

// platform.claude.com/docs (2026-11): prompt caching, extended and adaptive thinking, tool use, messages; release notes of 2026-02-05.
const messagesTools = (body: JsonObject): readonly JsonObject[] => list(body.tools).filter(tool => isObject(tool.input_schema))
const messages: readonly RefusalRow[] = [
  // earendil-works/pi#3297, AAClause/nvda-OpenAI#126, Kilo-Org/kilocode#12526
  {
    id: 'thinking budget',
    dialect: 'messages',
    models: since47,
    find: ({ thinking }) => (object(thinking).type === 'enabled' ? [thinking] : []),
  },
  {
    id: 'sampling',
    dialect: 'messages',
    models: since47,
    find: body => ['temperature', 'top_p', 'top_k'].filter(field => body[field] !== undefined),
  },
  {
    id: 'temperature above 1, or with top_p',
    dialect: 'messages',
    models: /claude-(sonnet|haiku|opus)-4-[56]/,
    find: ({ temperature, top_p }) =>
      (typeof temperature === 'number' && temperature > 1) || (temperature !== undefined && top_p !== undefined) ? [temperature] : [],
  },
  {
    id: 'budget that does not fit, or beside a forced call',
    dialect: 'messages',
    models: allClaude,
    find({ thinking, max_tokens, tool_choice }) {
      const { type, budget_tokens: budget } = object(thinking)
      if (type !== 'enabled') return []
      const fits = typeof budget === 'number' && budget >= 1024 && budget < Number(max_tokens)
      return fits && !['any', 'tool'].includes(String(object(tool_choice).type)) ? [] : [thinking, tool_choice]
    },
  },
  // router-for-me/CLIProxyAPI#5319, anthropics/claude-code#52433
  {
    id: 'assistant at the end',
    dialect: 'messages',
    models: since46,
    find: ({ messages: turns }) => list(turns).filter(({ role }, at, all) => role === 'assistant' && at === all.length - 1),
  },
  {
    id: 'assistant at the start',
    dialect: 'messages',
    models: allClaude,
    find: ({ messages: turns }) =>
      list(turns)
        .slice(0, 1)
        .filter(({ role }) => role !== 'user'),
  },
  // decocms/studio#6874
  {
    id: 'property names',
    dialect: 'messages',
    models: allClaude,
    find: body => messagesTools(body).flatMap(tool => oddProperties(object(tool.input_schema))),
  },
  // RooCodeInc/Roo-Code#10726
  {
    id: 'root of parameters',
    dialect: 'messages',
    models: allClaude,
    find: body => messagesTools(body).flatMap(tool => oddRoot(object(tool.input_schema))),
  },
  {
    id: 'tool names',
    dialect: 'messages',
    models: allClaude,
    find: ({ tools }) => [
      ...idsOf(list(tools), 'name').filter(name => !/^[a-zA-Z0-9_-]{1,128}$/.test(String(name))),
      ...doubles(idsOf(list(tools), 'name')),
    ],
  },
  // maximhq/bifrost#6692
  { id: 'number of cache marks', dialect: 'messages', models: allClaude, find: body => keysIn(body, 'cache_control').slice(4) },
  {
    id: 'cache mark of an hour after a short one',
    dialect: 'messages',
    models: allClaude,
    find({ tools = null, system = null, messages: turns = null }) {
      const marks = keysIn([tools, system, turns], 'cache_control').map(mark => object(mark).ttl === '1h')
      return marks.slice(marks.indexOf(false) < 0 ? marks.length : marks.indexOf(false)).filter(isLong => isLong)
    },
  },
  {
    id: 'blank text',
    dialect: 'messages',
    models: allClaude,
    find: body => [
      ...[...blocksOf(body), ...list(body.system)].filter(({ type, text }) => type === 'text' && isBlank(text)),
      ...list(body.messages).filter(({ content }) => (Array.isArray(content) ? content.length === 0 : isBlank(content))),
    ],
  },
  {
    id: 'calls and results in pairs',
    dialect: 'messages',
    models: allClaude,
    find: ({ messages: turns }) =>
      unpaired(
        list(turns).map(turn => ({
          calls: idsOf(
            blocks(turn).filter(({ type }) => type === 'tool_use'),
            'id',
          ),
          results: idsOf(
            blocks(turn).filter(({ type }) => type === 'tool_result'),
            'tool_use_id',
          ),
        })),
      ),
  },
  {
    id: 'call ids',
    dialect: 'messages',
    models: allClaude,
    find: body =>
      blocksOf(body)
        .flatMap(({ id, tool_use_id }) => [id, tool_use_id])
        .filter(id => id !== undefined && !/^[a-zA-Z0-9_-]+$/.test(String(id))),
  },
  // "stop_sequences: each stop sequence must contain non-whitespace": BerriAI/litellm#3286
  { id: 'blank stop sequences', dialect: 'messages', models: allClaude, find: ({ stop_sequences: stops }) => texts(stops).filter(isBlank) },
  {
    id: 'length of user_id',
    dialect: 'messages',
    models: allClaude,
    find: ({ metadata }) => [object(metadata).user_id].filter(id => typeof id === 'string' && id.length > 256),
  },
  {
    id: 'tool choice without such a tool',
    dialect: 'messages',
    models: allClaude,
    find({ tool_choice: choice, tools }) {
      const { type, name } = object(choice)
      if (type === undefined) return []
      const names = idsOf(list(tools), 'name')
      return names.length === 0 || (type === 'tool' && !names.includes(name ?? null)) ? [choice] : []
    },
  },
]

// docs.aws.amazon.com/bedrock (2026-11): Converse, prompt caching, tool use, model parameters of Claude.
const specs = (body: JsonObject): readonly JsonObject[] =>
  list(object(body.toolConfig).tools).flatMap(tool => (isObject(tool.toolSpec) ? [tool.toolSpec] : []))
const resultsIn = (message: JsonObject): readonly JsonObject[] =>
  blocks(message).flatMap(block => (isObject(block.toolResult) ? [block.toolResult] : []))
const callsIn = (message: JsonObject): readonly JsonObject[] =>
  blocks(message).flatMap(block => (isObject(block.toolUse) ? [block.toolUse] : []))
const pointsIn = (value: Json | undefined): number => keysIn(value, 'cachePoint').length
const modelFields = (body: JsonObject): JsonObject => object(body.additionalModelRequestFields)

const bedrock: readonly RefusalRow[] = [
  {
    id: 'thinking budget',
    dialect: 'bedrock',
    models: since47,
    find: body => (object(modelFields(body).thinking).type === 'enabled' ? [modelFields(body)] : []),
  },
  {
    id: 'sampling',
    dialect: 'bedrock',
    models: since47,
    find: body => [
      ...['temperature', 'topP'].filter(field => object(body.inferenceConfig)[field] !== undefined),
      ...(modelFields(body).top_k === undefined ? [] : ['top_k']),
    ],
  },
  {
    id: 'assistant at the end',
    dialect: 'bedrock',
    models: since46,
    find: ({ messages: turns }) => list(turns).filter(({ role }, at, all) => role === 'assistant' && at === all.length - 1),
  },
  {
    id: 'order of turns',
    dialect: 'bedrock',
    find: ({ messages: turns }) => [...(list(turns)[0]?.role === 'user' ? [] : ['start']), ...repeatedRoles(list(turns))],
  },
  // aws-solutions-library-samples/accelerated-intelligent-document-processing-on-aws#709
  {
    id: 'property names',
    dialect: 'bedrock',
    models: allClaude,
    find: body => specs(body).flatMap(spec => oddProperties(object(object(spec.inputSchema).json))),
  },
  {
    id: 'root of parameters',
    dialect: 'bedrock',
    find: body => specs(body).flatMap(spec => oddRoot(object(object(spec.inputSchema).json))),
  },
  {
    id: 'tool names and descriptions',
    dialect: 'bedrock',
    find: body => [
      ...idsOf(specs(body), 'name').filter(name => !/^[a-zA-Z0-9_-]{1,64}$/.test(String(name))),
      ...doubles(idsOf(specs(body), 'name')),
      ...specs(body).filter(({ description }) => isBlank(description)),
    ],
  },
  // envoyproxy/ai-gateway#1712
  { id: 'number of cache points', dialect: 'bedrock', find: body => Array.from({ length: Math.max(0, pointsIn(body) - 4) }) },
  {
    id: 'cache points on tools of Nova',
    dialect: 'bedrock',
    models: /nova/,
    find: body => Array.from({ length: pointsIn(body.toolConfig) }),
  },
  {
    id: 'cache points without a prompt cache',
    dialect: 'bedrock',
    models: /^(?!.*(claude|nova))/,
    find: body => Array.from({ length: pointsIn(body) }),
  },
  {
    id: 'cache points in tool results',
    dialect: 'bedrock',
    find: body =>
      list(body.messages)
        .flatMap(resultsIn)
        .filter(result => pointsIn(result) > 0),
  },
  // can1357/oh-my-pi#11685, anomalyco/opencode#50272
  {
    id: 'media in tool results',
    dialect: 'bedrock',
    models: /^(?!.*(claude|nova|llama4))/,
    find: body =>
      list(body.messages)
        .flatMap(resultsIn)
        .flatMap(({ content }) => list(content))
        .filter(({ image, document }) => image !== undefined || document !== undefined),
  },
  {
    id: 'calls and results in pairs',
    dialect: 'bedrock',
    find: ({ messages: turns }) =>
      unpaired(list(turns).map(turn => ({ calls: idsOf(callsIn(turn), 'toolUseId'), results: idsOf(resultsIn(turn), 'toolUseId') }))),
  },
  {
    id: 'calls without declared tools',
    dialect: 'bedrock',
    find: body =>
      list(body.messages).some(turn => callsIn(turn).length + resultsIn(turn).length > 0) && specs(body).length === 0 ? [body] : [],
  },
  {
    id: 'blank text and empty messages',
    dialect: 'bedrock',
    find: body => [
      ...[...blocksOf(body), ...list(body.system)].filter(({ text }) => isBlank(text)),
      ...list(body.messages).filter(({ content }) => list(content).length === 0),
    ],
  },
  {
    id: 'blank stop sequences',
    dialect: 'bedrock',
    models: allClaude,
    find: ({ inferenceConfig }) => texts(object(inferenceConfig).stopSequences).filter(isBlank),
  },
]

// ai.google.dev/api (2026-11): generateContent, function calling, structured output; spring-projects/spring-ai#1373 for the root.
const declarations = (body: JsonObject): readonly JsonObject[] => list(body.tools).flatMap(tool => list(tool.functionDeclarations))
const partsIn = (turn: JsonObject, field: string): readonly JsonObject[] =>
  list(turn.parts).flatMap(part => (isObject(part[field]) ? [part[field]] : []))

const gemini: readonly RefusalRow[] = [
  // LibreChat-AI/agents#323, pipecat-ai/pipecat#5821
  {
    id: 'model at the end',
    dialect: 'gemini',
    models: /gemini-(3\.6|3\.5-flash-lite|4)/,
    find: ({ contents }) => list(contents).filter(({ role }, at, all) => role === 'model' && at === all.length - 1),
  },
  { id: 'model at the start', dialect: 'gemini', find: ({ contents }) => (list(contents)[0]?.role === 'user' ? [] : ['start']) },
  {
    id: 'calls and results in pairs',
    dialect: 'gemini',
    find: ({ contents }) =>
      unpaired(
        list(contents).map(turn => ({
          calls: idsOf(partsIn(turn, 'functionCall'), 'id'),
          results: idsOf(partsIn(turn, 'functionResponse'), 'id'),
        })),
      ),
  },
  {
    id: 'function names',
    dialect: 'gemini',
    find: body => [
      ...idsOf(declarations(body), 'name').filter(name => !/^[a-zA-Z_][\w.:-]{0,63}$/.test(String(name))),
      ...doubles(idsOf(declarations(body), 'name')),
    ],
  },
  {
    id: 'root of parameters',
    dialect: 'gemini',
    find: body => declarations(body).flatMap(({ parametersJsonSchema: schema }) => (isObject(schema) ? oddRoot(schema) : [])),
  },
  { id: 'empty turns', dialect: 'gemini', find: ({ contents }) => list(contents).filter(({ parts }) => list(parts).length === 0) },
  // agentgateway/agentgateway#2811, MoonshotAI/kimi-code#3274, google/oss-rebuild#1559
  {
    id: 'parts after function responses',
    dialect: 'gemini',
    models: /gemini-(3\.6|3\.5-flash-lite|4)/,
    find: ({ contents }) =>
      list(contents).filter(({ parts }) => {
        const all = list(parts)
        return all.some(({ functionResponse }) => isObject(functionResponse)) && !isObject(all.at(-1)?.functionResponse)
      }),
  },
  // "The set of character sequences (up to 5)"
  {
    id: 'number of stop sequences',
    dialect: 'gemini',
    find: ({ generationConfig }) => texts(object(generationConfig).stopSequences).slice(5),
  },
  {
    id: 'media in function responses before Gemini 3',
    dialect: 'gemini',
    models: /gemini-2/,
    find: ({ contents }) =>
      list(contents)
        .flatMap(turn => partsIn(turn, 'functionResponse'))
        .filter(({ parts }) => parts !== undefined),
  },
  {
    id: 'thinking by level and by budget',
    dialect: 'gemini',
    find({ generationConfig }) {
      const { thinkingLevel, thinkingBudget } = object(object(generationConfig).thinkingConfig)
      return thinkingLevel !== undefined && thinkingBudget !== undefined ? [generationConfig] : []
    },
  },
  {
    id: 'penalties',
    dialect: 'gemini',
    find: ({ generationConfig }) => ['frequencyPenalty', 'presencePenalty'].filter(field => object(generationConfig)[field] !== undefined),
  },
]

// platform.openai.com/docs (2026-11): function calling, Chat Completions. What hosts take beyond it is not checked.
const functions = (body: JsonObject): readonly JsonObject[] =>
  list(body.tools).flatMap(tool => (isObject(tool.function) ? [tool.function] : []))

/** "schema must have type 'object' and not have 'oneOf'/'anyOf'/'allOf'/'enum'/'not' at the top level": langchain-ai/langchainjs#9804 */
const openaiRoots = (schemas: readonly Json[]): readonly unknown[] =>
  schemas
    .filter(schema => isObject(schema))
    .flatMap(schema => [...oddRoot(schema), ...['enum', 'not'].filter(key => schema[key] !== undefined)])

const chat: readonly RefusalRow[] = [
  {
    id: 'root of parameters',
    dialect: 'chat',
    translated: true,
    find: body => openaiRoots(idsOf(functions(body), 'parameters')),
  },
  {
    id: 'tool names',
    dialect: 'chat',
    find: body => [
      ...idsOf(functions(body), 'name').filter(name => !/^[a-zA-Z0-9_-]{1,64}$/.test(String(name))),
      ...doubles(idsOf(functions(body), 'name')),
    ],
  },
  {
    id: 'tool choice without tools',
    dialect: 'chat',
    find: ({ tools, tool_choice: choice }) => (choice !== undefined && tools === undefined ? [choice] : []),
  },
  {
    id: 'calls and results in pairs',
    dialect: 'chat',
    find({ messages: turns }) {
      const all = list(turns)
      return all.flatMap(({ tool_calls }, at) => {
        const ids = idsOf(list(tool_calls), 'id')
        const results = idsOf(all.slice(at + 1, at + 1 + ids.length), 'tool_call_id')
        return ids.filter(id => !results.includes(id))
      })
    },
  },
]

// Dicklesworthstone/flywheel_connectors#49 (parameters), earendil-works/pi#9057 (call ids)
const ofType = (value: Json | undefined, type: string): readonly JsonObject[] => list(value).filter(each => each.type === type)
const responses: readonly RefusalRow[] = [
  {
    id: 'root of parameters',
    dialect: 'responses',
    translated: true,
    find: ({ tools }) => openaiRoots(idsOf(ofType(tools, 'function'), 'parameters')),
  },
  {
    id: 'tool names',
    dialect: 'responses',
    translated: true,
    find: ({ tools }) => [
      ...idsOf(ofType(tools, 'function'), 'name').filter(name => !/^[a-zA-Z0-9_-]{1,128}$/.test(String(name))),
      ...doubles(idsOf(ofType(tools, 'function'), 'name')),
    ],
  },
  {
    id: 'call ids that occur twice',
    dialect: 'responses',
    translated: true,
    find: ({ input }) => doubles(idsOf(ofType(input, 'function_call'), 'call_id')),
  },
]

export const refusals: readonly RefusalRow[] = [...messages, ...bedrock, ...gemini, ...chat, ...responses]
