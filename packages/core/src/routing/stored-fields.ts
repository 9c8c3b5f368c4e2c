import type { Item, Part } from '../protocol/item.ts'
import { originalOf, pathOf } from '../protocol/original.ts'
import type { Prompt, Tool } from '../protocol/request.ts'
import { type DialectName, isObject, type Json, type JsonObject } from '../protocol/wire.ts'

// Fields that name something stored at the provider: a file, container, vector store or skill. What they open depends on whose credential
// sends them, so a request with such a field is only sent with a credential that may open it (exclusion-rules.ts).

/** Whether a value of the field names something stored. `parent`: the object that has the field. */
type Names = (value: Json, parent: JsonObject) => boolean

const filled: Names = value => (Array.isArray(value) ? value.length > 0 : typeof value === 'string' && value !== '')
const filledText: Names = value => typeof value === 'string' && value !== ''
const hasId: Names = value => isObject(value) && filledText(value.id ?? null, value)
/** Skills of the type `anthropic` are open to every account. */
const ownSkill: Names = (value, { type }) => !(typeof type === 'string' && /^anthropic$/.test(type)) && filledText(value, {})

/**
 * By dialect: the name of the field, wherever it is in an object that is sent unchanged. From the API references of the vendors,
 * 2026-11: OpenAI (files, file_search, code_interpreter, shell, audio, custom voices), Anthropic (files, container, skills), Google
 * (file data, file search, Vertex AI Search and RAG), Amazon (S3 locations), xAI (`collection_ids`), Mistral (`library_ids`).
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
  ]),
  chat: new Map<string, Names>([
    ['file_id', filled],
    ['file_ids', filled],
    ['vector_store_ids', filled],
    ['collection_ids', filled],
    ['library_ids', filled],
    ['audio', hasId],
    ['voice', hasId],
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
    ...['engine', 'ragCorpus', 'rag_corpus', 'ragFileIds', 'rag_file_ids', 'ragCorpora', 'rag_corpora'].map(
      name => [name, filled] as const,
    ),
  ]),
  bedrock: new Map<string, Names>([['s3Location', isObject]]),
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

/** The path of the first field that names something stored, in an object or a list. */
function searchValue(value: Json | undefined, fields: ReadonlyMap<string, Names>, path: string): string | undefined {
  if (Array.isArray(value)) {
    for (let at = 0; at < value.length; at++) {
      const found = searchValue(value[at], fields, `${path}[${at}]`)
      if (found !== undefined) return found
    }
    return undefined
  }
  if (!isObject(value)) return undefined
  for (const name in value) {
    const inner = value[name] as Json
    const place = path === '' ? name : `${path}.${name}`
    if (fields.get(name)?.(inner, value)) return place
    const found = typeof inner === 'object' ? searchValue(inner, fields, place) : undefined
    if (found !== undefined) return found
  }
  return undefined
}

/** Like `searchValue`, for a decoded value: its object as the client sent it. */
function searchOriginal(decoded: object, dialect: DialectName | undefined, body: Json | undefined, otherwise: string): string | undefined {
  const fields = dialect === undefined ? undefined : fieldsOf(dialect)
  return fields && searchValue(body, fields, pathOf(decoded, otherwise))
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

/**
 * Files that Qwen-Long reads are named in the text of a system message: https://help.aliyun.com/zh/model-studio/long-context-qwen-long, by the
 * ids that the Files API of Model Studio gives them (`file-fe-…`).
 */
const namesFile = (text: string): boolean => text.includes('fileid://file-')

function storedInPart(part: Part, path: string): string | undefined {
  if (part.type === 'text' || part.type === 'refusal') return undefined
  if (part.type === 'native') return part.isRecord ? undefined : searchOriginal(part, part.dialect, part.body, path)
  const original = originalOf(part)
  if (part.type !== 'audio' && isStoredAddress(part.url)) return original?.path ?? path
  return searchOriginal(part, original?.dialect, original?.body, path)
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
    // A record of an earlier answer names what that answer used, and opens nothing by itself.
    return item.isRecord ? undefined : searchOriginal(item, item.dialect, item.body, path)
  }
  if (item.type === 'message') {
    const found = storedInParts(item.content, `${path}.content`)
    if (found !== undefined || item.role === 'user') return found
    if (item.role !== 'assistant')
      return item.content.some(part => part.type === 'text' && namesFile(part.text)) ? `${pathOf(item, path)}.content` : undefined
    // Audio of an earlier answer is referred to by the id that it has at the provider.
    const original = originalOf(item)
    const { audio } = original?.body ?? {}
    return original?.dialect === 'chat' && hasId(audio ?? null, {}) ? `${original.path ?? path}.audio.id` : undefined
  }
  return item.type === 'function_call_output' && typeof item.output !== 'string' ? storedInParts(item.output, `${path}.output`) : undefined
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
  for (let at = 0; at < input.length; at++) {
    const found = storedInItem(input[at] as Item, `input[${at}]`)
    if (found !== undefined) return found
  }
  if (!tools && !native && !extensions) return undefined
  return (
    (tools && storedInTools(tools, 'tools')) ??
    (native && searchOriginal(native, native.dialect, native.body, '')) ??
    (extensions && searchValue(extensions, fieldsOfAnyDialect, 'extensions'))
  )
}
