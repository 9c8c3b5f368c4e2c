import { clientItems, outputFeatures } from '@signalbox/dialects/common'
import type { Item, Native, Part, Prompt, Tool } from '@signalbox/dialects/protocol'
import { type DialectName, isObject, type Json, type JsonObject, originalOf, pathOf } from '@signalbox/dialects/protocol'

// Fields that name something stored at the provider: a file, container, vector store or skill. What they open depends on whose credential
// sends them, so a request with such a field is only sent with a credential that may open it (exclusion-rules.ts).

/** Whether a value of the field names something stored. `parent`: the object that has the field. */
type Names = (value: Json, parent: JsonObject) => boolean

const filled: Names = value => (Array.isArray(value) ? value.length > 0 : typeof value === 'string' && value !== '')
const filledText: Names = value => typeof value === 'string' && value !== ''
const hasId: Names = value => isObject(value) && filledText(value.id ?? null, value)
/** Presets of Perplexity's own (https://docs.perplexity.ai/docs/agent-api/presets). Those of OpenRouter belong to an account. */
const ownPreset: Names = value => filledText(value, {}) && !/^(?:fast-search|pro-search|(?:advanced-)?deep-research)$/.test(String(value))
/** A tool of Azure that calls an API of the client's choice: with a connection of the project or as its managed identity, unless anonymous. */
const ownIdentity: Names = value => isObject(value) && value.type !== 'anonymous'
/** Skills of the type `anthropic` are open to every account. */
const ownSkill: Names = (value, { type }) => !(typeof type === 'string' && /^anthropic$/.test(type)) && filledText(value, {})

/**
 * By dialect: the name of the field, wherever it is in an object that is sent unchanged. From the API references of the vendors,
 * 2026-11: OpenAI (files, file_search, code_interpreter, shell, audio, custom voices), Anthropic (files, container, skills), Google
 * (file data, file search, Vertex AI Search and RAG, cached contents, Model Armor templates), Amazon (S3 locations, guardrails), xAI
 * (`collection_ids`), Mistral (`library_ids`), Azure (`data_sources`, connections, memory stores, queues and identity of a project, agents), Z.ai (`knowledge_id`, agents and
 * their conversations), OpenRouter (`preset`).
 */
const storedFields: Readonly<Record<string, ReadonlyMap<string, Names>>> = {
  responses: new Map<string, Names>([
    ['file_id', filled],
    ['file_ids', filled],
    ['vector_store_ids', filled],
    ['collection_ids', filled],
    ['container', filledText],
    ['container_id', filled],
    ['skill_id', filled],
    ['project_connection_id', filled],
    ['index_connection_id', filled],
    ['index_asset_id', filled],
    ['connection_id', filled],
    ['memory_store_name', filled],
    ['auth', ownIdentity],
    ['storage_queue', isObject],
    ['agent', isObject],
    ['agent_reference', isObject],
  ]),
  chat: new Map<string, Names>([
    ['file_id', filled],
    ['file_ids', filled],
    ['vector_store_ids', filled],
    ['collection_ids', filled],
    ['library_ids', filled],
    ['audio', hasId],
    ['voice', hasId],
    ['data_sources', filled],
    ['dataSources', filled],
    ['knowledge_id', filled],
    ['agent_id', filled],
    ['conversation_id', filled],
    ['cached_content', filled],
    ['cachedContent', filled],
    ['preset', ownPreset],
  ]),
  messages: new Map<string, Names>([
    ['file_id', filled],
    ['file_ids', filled],
    ['container', (value, parent) => filledText(value, parent) || hasId(value, parent)],
    ['skill_id', ownSkill],
  ]),
  gemini: new Map<string, Names>([
    ...['fileUri', 'file_uri', 'fileSearchStoreNames', 'file_search_store_names', 'datastore', 'dataStore', 'data_store'].map(
      name => [name, filled] as const,
    ),
    ...['modelArmorConfig', 'model_armor_config'].map(name => [name, isObject] as const),
    ...[
      'cachedContent',
      'cached_content',
      'engine',
      'ragCorpus',
      'rag_corpus',
      'ragFileIds',
      'rag_file_ids',
      'ragCorpora',
      'rag_corpora',
    ].map(name => [name, filled] as const),
  ]),
  bedrock: new Map<string, Names>([
    ['s3Location', isObject],
    ['guardrailIdentifier', filled],
  ]),
}

/** The fields of all dialects, for `extensions`, which go to a provider of any dialect. */
const fieldsOfAnyDialect: ReadonlyMap<string, Names> = new Map(
  Object.values(storedFields).flatMap(fields =>
    [...fields.keys()].map(name => [name, (value: Json, parent: JsonObject) => namesInAny(name, value, parent)] as const),
  ),
)

function namesInAny(name: string, value: Json, parent: JsonObject): boolean {
  return Object.values(storedFields).some(fields => fields.get(name)?.(value, parent) === true)
}

const fieldsOf = (dialect: DialectName): ReadonlyMap<string, Names> | undefined =>
  Object.hasOwn(storedFields, dialect) ? storedFields[dialect] : undefined

/** Whether a field names something stored. */
type Check = (name: string, value: Json, parent: JsonObject) => boolean

const namesOf =
  (fields: ReadonlyMap<string, Names> | undefined): Check =>
  (name, value, parent) =>
    fields?.get(name)?.(value, parent) === true

/** Fields of parts that have an address, or bytes in place of which some providers take an address of their own. */
const addressField =
  /^(?:(?:file|image|video|audio|document|media|pdf|source)_?)?(?:url|uri|data)s?$|^(?:image|video|audio|file|document)s?$/i

/** Plain text of a document is in `data` too. */
const namesAddress: Check = (name, value, { type }) => {
  if (typeof value !== 'string' && !Array.isArray(value)) return false
  if (!addressField.test(name) || type === 'text') return false
  return typeof value === 'string' ? isAddressOfStored(value) : value.some(each => typeof each === 'string' && isAddressOfStored(each))
}

/** The path of the first field that names something stored, in an object or a list. `metadata` is data of the client's own. */
function searchValue(value: Json | undefined, check: Check, path: string): string | undefined {
  if (Array.isArray(value)) {
    for (let at = 0; at < value.length; at++) {
      const found = searchValue(value[at], check, `${path}[${at}]`)
      if (found !== undefined) return found
    }
    return undefined
  }
  if (!isObject(value)) return undefined
  for (const name in value) {
    const inner = value[name] as Json
    const place = path === '' ? name : `${path}.${name}`
    if (check(name, inner, value)) return place
    const found = typeof inner === 'object' && name !== 'metadata' ? searchValue(inner, check, place) : undefined
    if (found !== undefined) return found
  }
  return undefined
}

/** Like `searchValue`, for a decoded value: its object as the client sent it. */
function searchOriginal(decoded: object, dialect: DialectName | undefined, body: Json | undefined, otherwise: string): string | undefined {
  const fields = dialect === undefined ? undefined : fieldsOf(dialect)
  return fields && searchValue(body, namesOf(fields), pathOf(decoded, otherwise))
}

/** Like `searchOriginal`, for a part or item, which may have addresses. */
function searchContent(decoded: object, dialect: DialectName | undefined, body: Json | undefined, otherwise: string): string | undefined {
  const fields = dialect === undefined ? undefined : fieldsOf(dialect)
  if (!fields) return undefined
  const names = namesOf(fields)
  return searchValue(
    body,
    (name, value, parent) => names(name, value, parent) || namesAddress(name, value, parent),
    pathOf(decoded, otherwise),
  )
}

/**
 * Whether an address of an image or file opens something only with the credential of the call: another scheme than `data:`, `https:` and
 * `http:` (`gs:`, `s3:`, `file:`, `ms:`), or the file host of a provider, which reads it with that credential.
 */
const isStoredAddress = (url: string): boolean => !/^data:/i.test(url) && (!/^https?:/i.test(url) || hasProviderHost(url))

/** More than a user name, a host and a port take: a host has at most 253 characters (RFC 1035). Parsing one takes more than linear time. */
const maxAuthority = 320

/**
 * Whether an `https:` or `http:` address is of the Files API of Gemini (https://ai.google.dev/gemini-api/docs/files), however its host is
 * spelt. So is one whose host cannot be read or ends at a backslash, because parsers differ on it.
 */
function hasProviderHost(url: string): boolean {
  const start = url.slice(0, 2 * maxAuthority).replace(/[\t\n\r]/g, '')
  const [front = '', authority = '', backslash = ''] = /^https?:\/*([^/\\?#]*)(\\?)/i.exec(start) ?? []
  const isCut = front.length === start.length && url.length > 2 * maxAuthority
  if (isCut || authority.length > maxAuthority || backslash !== '' || !URL.canParse(`https://${authority}/`)) return true
  const host = new URL(`https://${authority}/`).hostname.replace(/\.+$/, '')
  return host.endsWith('.googleapis.com') && host.includes('generativelanguage')
}

/** Whether a text that may be something else than an address, such as bytes in base64, is the address of something stored. */
const isAddressOfStored = (text: string): boolean =>
  /^\s*[a-z][a-z0-9+.-]*:/i.test(text.slice(0, 2 * maxAuthority).replace(/[\t\n\r]/g, '')) && isStoredAddress(text)

/**
 * Files that Qwen-Long reads are named in the text of a system message: https://help.aliyun.com/zh/model-studio/long-context-qwen-long, by the
 * ids that the Files API of Model Studio gives them (`file-fe-…`).
 */
const namesFile = (text: string): boolean => text.includes('fileid://file-') || /^\s*fileid:\/\//i.test(text)

/** Types of blocks in answers of the Messages API: what it ran, and what came of that. */
const answerBlock = /^(?:server_tool_use|mcp_tool_use|[a-z_]{1,60}_tool_result)$/
const answerTypes: ReadonlySet<string> = new Set(
  [...outputFeatures.values()].flatMap(({ types = [] }) => types).filter(type => !clientItems.has(type)),
)

/**
 * Whether a part or item is of a type that answers have. Such a record names what that answer used, and opens nothing by itself
 * (dialects/stored-records.ts has those that do). A client may put anything else in a turn of the assistant.
 */
function isAnswerRecord({ isRecord, body: { type } }: Native): boolean {
  return isRecord === true && typeof type === 'string' && (answerTypes.has(type) || answerBlock.test(type))
}

function storedInPart(part: Part, path: string): string | undefined {
  if (part.type === 'text' || part.type === 'refusal') return undefined
  if (part.type === 'native') return isAnswerRecord(part) ? undefined : searchContent(part, part.dialect, part.body, path)
  const original = originalOf(part)
  if (part.type === 'audio' ? isAddressOfStored(part.data) : isStoredAddress(part.url)) return original?.path ?? path
  return searchContent(part, original?.dialect, original?.body, path)
}

function storedInParts(parts: readonly Part[], path: string): string | undefined {
  for (let at = 0; at < parts.length; at++) {
    const found = storedInPart(parts[at] as Part, `${path}[${at}]`)
    if (found !== undefined) return found
  }
  return undefined
}

function storedInItem(item: Item, path: string): string | undefined {
  if (item.type === 'native') {
    if (item.tools) return storedInTools(item.tools, path)
    return isAnswerRecord(item) ? undefined : searchContent(item, item.dialect, item.body, path)
  }
  if (item.type === 'message') {
    const found = storedInParts(item.content, `${path}.content`)
    if (found !== undefined || item.role === 'user' || item.role === 'assistant') return found
    const texts = item.content.map(part => (part.type === 'text' ? part.text : ''))
    return texts.some(namesFile) || (texts.length > 1 && namesFile(texts.join(''))) ? `${pathOf(item, path)}.content` : undefined
  }
  return item.type === 'function_call_output' && typeof item.output !== 'string' ? storedInParts(item.output, `${path}.output`) : undefined
}

/**
 * The fields of a message besides its content, such as audio of an earlier answer by its id at the provider. Calls and reasoning of the
 * assistant are in a message too.
 */
function storedInMessage(body: JsonObject, dialect: DialectName, path: string): string | undefined {
  const check = namesOf(fieldsOf(dialect))
  for (const name in body)
    if (check(name, body[name] as Json, body)) return `${path.replace(/\.(?:tool_calls\[|function_call\b|images\[).*$/, '')}.${name}`
  return undefined
}

function storedInTools(tools: readonly Tool[], path: string): string | undefined {
  for (let at = 0; at < tools.length; at++) {
    const tool = tools[at] as Tool
    if (tool.type === 'function') continue
    const place = pathOf(tool, `${path}[${at}]`)
    const found = tool.tools ? storedInTools(tool.tools, `${place}.tools`) : searchOriginal(tool, tool.dialect, tool.body, place)
    if (found !== undefined) return found
  }
  return undefined
}

/** The path of the first field of a request that names something stored at a provider. Takes time linear in what is sent unchanged. */
export function storedFieldOf({ input, instructions, tools, native, extensions }: Prompt): string | undefined {
  if (instructions !== undefined && namesFile(instructions)) return 'instructions'
  let last: JsonObject | undefined
  for (let at = 0; at < input.length; at++) {
    const item = input[at] as Item
    const path = `input[${at}]`
    const original = originalOf(item)
    // One message of the client may be several items.
    const isMessage = original !== undefined && original.body !== last && (item.type === 'message' || original.dialect === 'chat')
    const found =
      storedInItem(item, path) ?? (isMessage ? storedInMessage(original.body, original.dialect, original.path ?? path) : undefined)
    if (found !== undefined) return found
    last = original?.body
  }
  if (!tools && !native && !extensions) return undefined
  return (
    (tools && storedInTools(tools, 'tools')) ??
    (native && searchOriginal(native, native.dialect, native.body, '')) ??
    (extensions && searchValue(extensions, namesOf(fieldsOfAnyDialect), 'extensions'))
  )
}
