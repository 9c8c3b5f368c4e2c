import { chatProvider, geminiProvider, messagesProvider } from '../dialects/index.ts'
import type { OptionTableOf } from '../errors/option-table.ts'
import type { ProviderDialect } from '../protocol/dialect.ts'
import type { Quirks } from '../protocol/model.ts'
import { type Credential, credentialOf, type EndpointContext, type Provider } from '../protocol/provider.ts'
import { isObject, type JsonObject } from '../protocol/wire.ts'
import { claudeQuirks } from './claude-models.ts'
import { defineProvider } from './define-provider.ts'
import { geminiQuirks } from './gemini-models.ts'
import { googleTokens, readServiceAccount, type ServiceAccount } from './google-token.ts'
import { hostSurcharges } from './host-surcharges.ts'
import { providerOptions } from './provider-options.ts'

/** The options of `googleVertex`: a service account, a token, or a key of express mode. */
export interface VertexOptions {
  /** Id of the project. Default: that of the service account. */
  readonly project?: string | undefined
  /** A region, `us`, `eu` or `global`. Default: `global`. */
  readonly location?: string | undefined
  /** The JSON key of a service account, parsed. */
  readonly serviceAccount?: ServiceAccount | undefined
  /** A key of express mode. */
  readonly apiKey?: string | undefined
  /** A token that something else provides, as the metadata server of a machine does; a function where it changes. */
  readonly accessToken?: string | (() => string | Promise<string>) | undefined
  /** Up to and including the version. Default: Google's address for the location. */
  readonly baseUrl?: string | undefined
}

const vertexOptions: OptionTableOf<VertexOptions> = {
  project: 'text',
  location: 'text',
  serviceAccount: 'object',
  apiKey: 'text',
  accessToken: 'text or function',
  baseUrl: 'text',
}

/**
 * Vertex AI: Gemini in its own language, partners in theirs. A credential is the JSON key of a service account or a key of
 * express mode; its `extra` may name a `project` and a `location`.
 *
 * @throws {TypeError} An option is unknown or of another kind, or `project` is missing beside a token.
 * @example googleVertex({ location: 'europe-west4', serviceAccount: JSON.parse(await readFile('key.json', 'utf8')) })
 */
export function googleVertex(given: VertexOptions = {}): Provider<'google-vertex'> {
  const options = providerOptions('googleVertex', given, vertexOptions)
  if (options.accessToken !== undefined && options.project === undefined)
    throw new TypeError('googleVertex: `project` is missing; with `accessToken` it takes the id of the project that is billed.')
  const { accessToken, baseUrl = `https://${hostOf('global')}/${apiVersion}` } = options
  const row = defineProvider({
    id: 'google-vertex',
    display_name: 'Google Vertex AI',
    baseUrl,
    paths: {},
    dialects: [geminiHere, messagesHere, chatProvider],
    quirks: { max_tokens_field: 'max_tokens' },
    quirksOf: vertexQuirksOf,
    data_policy: 'zdr',
    hostSurcharges: hostSurcharges.vertex,
  })
  const tokenFor = googleTokens()
  return {
    ...row,
    ...platformOf(options),
    endpoint: call => addressOf(call.credential, options) + (paths.get(call.dialect)?.(call) ?? ''),
    countEndpoint: call => {
      const path = countPaths.get(call.dialect)
      return path && addressOf(call.credential, options) + path(call)
    },
    account: {
      extra: ['project', 'location'],
      json: true,
      // A service account is good if Google has a token for it. Of a key of express mode and of a token only their use tells.
      check: credential => (isExpressKey(credential) || isToken(credential) ? undefined : { dialect: geminiHere.name }),
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
      // An account that was refused gets no token: the call goes on without one, and is refused like any bad credential.
      if (token !== undefined) headers.authorization = `Bearer ${token}`
    },
  }
}

function platformOf({ serviceAccount, apiKey, accessToken }: VertexOptions): { readonly credential?: Credential } {
  const make = (secret: string, extra?: Credential['extra']): { readonly credential: Credential } => ({
    credential: credentialOf({ id: 'google-vertex:platform', owner: 'platform', ...(extra && { extra }) }, secret),
  })
  if (serviceAccount) {
    const secret = JSON.stringify(serviceAccount)
    if (!readServiceAccount(secret)) throw new TypeError('The service account for Vertex AI needs a `client_email` and a `private_key`.')
    return make(secret)
  }
  if (accessToken !== undefined) return make(typeof accessToken === 'string' ? accessToken : '', { proof: 'token' })
  return apiKey === undefined ? {} : make(apiKey)
}

const isToken = ({ secret, extra }: Credential): boolean => extra?.proof === 'token' || secret.startsWith('ya29.')

/** A broken JSON key is none: it must not travel in a header. */
const isExpressKey = (credential: Credential): boolean => !isToken(credential) && !/^\s*\{/.test(credential.secret)

const apiVersion = 'v1beta1'

/** The address of an account: its own project and location before those of the gateway's operator. */
function addressOf(credential: Credential, { project, location = 'global', baseUrl }: VertexOptions): string {
  const { owner, secret, extra } = credential
  const place = extra?.location ?? location
  // A workspace names it too, and it becomes a part of a host name.
  if (!/^[a-z]+(-[a-z0-9]+)*$/.test(place)) throw new TypeError('The location of a Vertex AI account is a region, `us`, `eu` or `global`.')
  const root = baseUrl?.replace(/\/+$/, '') ?? `https://${hostOf(place)}/${apiVersion}`
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

/** Where each language is spoken. The model stands in the address, but for partners that speak Chat Completions. */
const paths: ReadonlyMap<string, (call: EndpointContext) => string> = new Map<string, (call: EndpointContext) => string>([
  ['gemini', ({ model, stream }) => gemini(model, stream ? 'streamGenerateContent?alt=sse' : 'generateContent')],
  ['messages', ({ model, stream }) => claude(model, stream ? 'streamRawPredict' : 'rawPredict')],
  ['chat', () => '/endpoints/openapi/chat/completions'],
])

const countPaths: ReadonlyMap<string, (call: EndpointContext) => string> = new Map<string, (call: EndpointContext) => string>([
  ['gemini', ({ model }) => gemini(model, 'countTokens')],
  ['messages', () => claude('count-tokens', 'rawPredict')],
])

/** Partners are known by the name of their publisher. */
const vertexQuirksOf = (model: string): Quirks | undefined => {
  if (model.includes('/')) return undefined
  return claudeQuirks(model) ?? geminiQuirks(model, ['service_tier'])
}

type TokenCounter = NonNullable<ProviderDialect['counting']>

/** A dialect whose bodies are a little different here. */
const adapted = (
  dialect: ProviderDialect,
  { said, counted }: Record<'said' | 'counted', (body: JsonObject) => JsonObject>,
): ProviderDialect => ({
  ...dialect,
  encodeRequest(request, offer, quirks) {
    const encoded = dialect.encodeRequest(request, offer, quirks)
    return { ...encoded, body: said(encoded.body) }
  },
  ...(dialect.counting && { counting: adaptedCounting(dialect.counting, counted) }),
})

const adaptedCounting = (counting: TokenCounter, counted: (body: JsonObject) => JsonObject): TokenCounter => ({
  ...counting,
  encodeRequest(request, offer, quirks) {
    const encoded = counting.encodeRequest(request, offer, quirks)
    return { ...encoded, body: counted(encoded.body) }
  },
})

/** What is counted stands a level higher than at the developer API. */
const geminiHere = adapted(geminiProvider, {
  said: body => body,
  counted: ({ generateContentRequest }) => (isObject(generateContentRequest) ? without(generateContentRequest, 'model') : {}),
})

const anthropic_version = 'vertex-2023-10-16'

/** The version stands in the body, and the model only where tokens are counted. */
const messagesHere = adapted(messagesProvider, {
  said: body => ({ anthropic_version, ...without(body, 'model') }),
  counted: body => ({ anthropic_version, ...body }),
})

function without(body: JsonObject, field: string): JsonObject {
  const { [field]: _, ...rest } = body
  return rest
}
