import type { ProviderDialect, Quirks } from '@signalbox/dialects/protocol'
import {
  type ApiKeys,
  type Credential,
  type EndpointContext,
  isObject,
  type JsonObject,
  type Provider,
  platformCredentials,
} from '@signalbox/dialects/protocol'
import { chatProvider, geminiProvider, messagesProvider } from '@signalbox/dialects/providers'
import type { OptionTableOf } from '@signalbox/storage/option-table'
import { claudeQuirks } from './claude-models.ts'
import { defineProvider } from './define-provider.ts'
import { geminiQuirks } from './gemini-models.ts'
import { googleTokens, readServiceAccount, type ServiceAccount } from './google-token.ts'
import { hostSurcharges } from './host-surcharges.ts'
import { providerOptions } from './provider-options.ts'

/** Options of `googleVertex`: a service account, an access token, or an express mode key. */
export interface VertexOptions {
  /** Project id. Default: the service account's project. */
  readonly project?: string | undefined
  /** A region, `us`, `eu` or `global`. Default: `global`. */
  readonly location?: string | undefined
  /** Parsed JSON key of a service account. */
  readonly serviceAccount?: ServiceAccount | undefined
  /** An express mode API key, or several of different accounts. */
  readonly apiKey?: ApiKeys | undefined
  /** An access token from elsewhere, such as the metadata server. Pass a function if the token changes. */
  readonly accessToken?: string | (() => string | Promise<string>) | undefined
  /** API base URL, including the version. Default: Google's URL for the location. */
  readonly baseURL?: string | undefined
}

const vertexOptions: OptionTableOf<VertexOptions> = {
  project: 'text',
  location: 'text',
  serviceAccount: 'object',
  apiKey: 'text or texts',
  accessToken: 'text or function',
  baseURL: 'text',
}

/**
 * Vertex AI: Gemini models, plus partner models in their vendors' APIs. A credential is the JSON key of a service account or an express
 * mode key; its `extra` may set `project` and `location`.
 *
 * @throws {TypeError} An option is unknown or has the wrong type, or `project` is missing although a token is given.
 * @example googleVertex({ location: 'europe-west4', serviceAccount: JSON.parse(await readFile('key.json', 'utf8')) })
 */
export function googleVertex(given: VertexOptions = {}): Provider<'google-vertex'> {
  const options = providerOptions('googleVertex', given, vertexOptions)
  if (options.accessToken !== undefined && options.project === undefined)
    throw new TypeError('googleVertex: `project` is missing; with `accessToken` it takes the id of the project that is billed.')
  const { accessToken, baseURL = `https://${hostOf('global')}/${apiVersion}` } = options
  const row = defineProvider({
    id: 'google-vertex',
    displayName: 'Google Vertex AI',
    baseURL,
    paths: {},
    dialects: [vertexGemini, vertexMessages, chatProvider],
    quirks: { maxTokensField: 'max_tokens' },
    quirksOf: vertexQuirksOf,
    dataPolicy: 'zdr',
    hostSurcharges: hostSurcharges.vertex,
  })
  const tokenFor = googleTokens()
  return {
    ...row,
    ...platformOf(options),
    endpoint: call => addressOf(call.credential, options) + (paths.get(call.api)?.(call) ?? ''),
    countEndpoint: call => {
      const path = countPaths.get(call.api)
      return path && addressOf(call.credential, options) + path(call)
    },
    account: {
      extra: ['project', 'location'],
      options: '`serviceAccount`, or `accessToken` and `project`, or `apiKey`',
      json: true,
      // A service account is valid if Google issues a token for it. Express mode keys and tokens can only be checked by a call.
      check: credential => (isExpressKey(credential) || isToken(credential) ? undefined : { api: vertexGemini.name }),
    },
    async authorize(headers, credential, call) {
      if (isExpressKey(credential)) {
        headers['x-goog-api-key'] = credential.secret
        return
      }
      const account = readServiceAccount(credential.secret)
      const own = credential.owner === 'platform' && typeof accessToken === 'function' ? accessToken : undefined
      const token = account
        ? await tokenFor(credential, account, call)
        : own
          ? await own()
          : isToken(credential)
            ? credential.secret
            : undefined
      // A rejected account has no token. Send the call without one, so that it fails like any invalid credential.
      if (token !== undefined) headers.authorization = `Bearer ${token}`
    },
  }
}

function platformOf({ serviceAccount, apiKey, accessToken }: VertexOptions): Pick<Provider, 'credential' | 'moreCredentials'> {
  const id = 'google-vertex'
  if (serviceAccount) {
    const secret = JSON.stringify(serviceAccount)
    if (!readServiceAccount(secret)) throw new TypeError('The service account for Vertex AI needs a `client_email` and a `private_key`.')
    return platformCredentials({ id }, secret)
  }
  if (accessToken !== undefined)
    return platformCredentials({ id, extra: { proof: 'token' } }, typeof accessToken === 'string' ? accessToken : '')
  return platformCredentials({ id }, apiKey)
}

const isToken = ({ secret, extra }: Credential): boolean => extra?.proof === 'token' || secret.startsWith('ya29.')

/** A secret that starts like JSON is never an express key: a malformed service account key must not be sent in a header. */
const isExpressKey = (credential: Credential): boolean => !isToken(credential) && !/^\s*\{/.test(credential.secret)

const apiVersion = 'v1beta1'

/** Root URL of a call. The account's own project and location take precedence over the operator's. */
function addressOf(credential: Credential, { project, location = 'global', baseURL }: VertexOptions): string {
  const { owner, secret, extra } = credential
  const place = extra?.location ?? location
  // Validated because workspaces can set the location, and it becomes part of a host name.
  if (!/^[a-z]+(-[a-z0-9]+)*$/.test(place)) throw new TypeError('The location of a Vertex AI account is a region, `us`, `eu` or `global`.')
  const root = baseURL?.replace(/\/+$/, '') ?? `https://${hostOf(place)}/${apiVersion}`
  if (isExpressKey(credential)) return root
  const named = extra?.project ?? (owner === 'platform' ? project : undefined) ?? readServiceAccount(secret)?.project_id
  if (named === undefined || named === '') throw new TypeError('A Vertex AI account needs a `project`.')
  return `${root}/projects/${segment(named)}/locations/${place}`
}

function hostOf(location: string): string {
  if (location === 'global') return 'aiplatform.googleapis.com'
  return location === 'us' || location === 'eu' ? `aiplatform.${location}.rep.googleapis.com` : `${location}-aiplatform.googleapis.com`
}

const segment = (text: string): string => encodeURIComponent(text).replaceAll('%40', '@').replaceAll('%3A', ':')

const gemini = (model: string, method: string): string => `/publishers/google/models/${segment(model)}:${method}`
const claude = (model: string, method: string): string => `/publishers/anthropic/models/${segment(model)}:${method}`

/** Path of a call, by dialect. The model is part of the path, except for partners that use Chat Completions. */
const paths: ReadonlyMap<string, (call: EndpointContext) => string> = new Map<string, (call: EndpointContext) => string>([
  ['gemini', ({ model, stream }) => gemini(model, stream ? 'streamGenerateContent?alt=sse' : 'generateContent')],
  ['messages', ({ model, stream }) => claude(model, stream ? 'streamRawPredict' : 'rawPredict')],
  ['chat', () => '/endpoints/openapi/chat/completions'],
])

const countPaths: ReadonlyMap<string, (call: EndpointContext) => string> = new Map<string, (call: EndpointContext) => string>([
  ['gemini', ({ model }) => gemini(model, 'countTokens')],
  ['messages', () => claude('count-tokens', 'rawPredict')],
])

/** Ids with a publisher prefix (`publisher/model`) belong to partner models, which have no quirks here. */
const vertexQuirksOf = (model: string): Quirks | undefined => {
  if (model.includes('/')) return undefined
  return claudeQuirks(model) ?? geminiQuirks(model, ['service_tier'])
}

type TokenCounter = NonNullable<ProviderDialect['counting']>

/** Wraps a dialect whose bodies differ slightly on Vertex AI. */
const adaptDialect = (
  dialect: ProviderDialect,
  { requestBody, countingBody }: Record<'requestBody' | 'countingBody', (body: JsonObject) => JsonObject>,
): ProviderDialect => ({
  ...dialect,
  encodeRequest(request, offer, quirks) {
    const encoded = dialect.encodeRequest(request, offer, quirks)
    return { ...encoded, body: requestBody(encoded.body) }
  },
  ...(dialect.counting && { counting: adaptCounting(dialect.counting, countingBody) }),
})

const adaptCounting = (counting: TokenCounter, countingBody: (body: JsonObject) => JsonObject): TokenCounter => ({
  ...counting,
  encodeRequest(request, offer, quirks) {
    const encoded = counting.encodeRequest(request, offer, quirks)
    return { ...encoded, body: countingBody(encoded.body) }
  },
})

/** Token counting accepts the body without the wrapper that the developer API requires. */
const vertexGemini = adaptDialect(geminiProvider, {
  requestBody: body => body,
  countingBody: ({ generateContentRequest }) => (isObject(generateContentRequest) ? without(generateContentRequest, 'model') : {}),
})

const anthropic_version = 'vertex-2023-10-16'

/** The API version goes in the body; the model goes there only for token counting. */
const vertexMessages = adaptDialect(messagesProvider, {
  requestBody: body => ({ anthropic_version, ...without(body, 'model') }),
  countingBody: body => ({ anthropic_version, ...body }),
})

function without(body: JsonObject, field: string): JsonObject {
  const { [field]: _, ...rest } = body
  return rest
}
