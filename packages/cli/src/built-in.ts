import { readFileSync } from 'node:fs'
import type { Provider } from '@signalbox/dialects/protocol'
import * as known from '@signalbox/providers'
import { type Access, apiKeysIn, type ProviderAccess } from './access.ts'
import { StartError } from './fault.ts'

/** A provider that can be configured by its id alone. */
export interface BuiltIn extends ProviderAccess {
  readonly id: string
  /** Whether no field is required: it is enabled once the config lists it. */
  readonly needsNoAccess?: boolean
  readonly make: (access: Access) => Provider
}

interface KeyAndUrl {
  readonly apiKey?: string | readonly string[] | undefined
  readonly baseURL?: string
}

const optionsOf = ({ api_key, base_url }: Access): KeyAndUrl => ({
  apiKey: api_key === undefined ? undefined : apiKeysIn(api_key),
  baseURL: base_url,
})

/** The common case: an API key, and optionally another base URL. */
const keyed = (id: string, make: (options: KeyAndUrl) => Provider, ...variables: readonly string[]): BuiltIn => ({
  id,
  fields: { api_key: variables, base_url: [] },
  methods: [['api_key']],
  make: access => make(optionsOf(access)),
})

/** A vendor, from the variables in its row. A self-hosted server is enabled if its URL is set, others if their key is. */
const fromVendor = (make: known.VendorFactory): BuiltIn => {
  const { id, keyless = false, baseURL, apiKeyVariables = [], baseURLVariables = [] } = make.row
  return {
    id,
    fields: keyless ? { base_url: baseURLVariables, api_key: apiKeyVariables } : { api_key: apiKeyVariables, base_url: baseURLVariables },
    methods: [[keyless ? 'base_url' : 'api_key']],
    needsNoAccess: keyless,
    make: ({ base_url, ...access }) =>
      make(optionsOf({ ...access, base_url: base_url === undefined ? undefined : keyless ? completeUrl(base_url, baseURL) : base_url })),
  }
}

/** Completes the URL of a self-hosted server. `OLLAMA_HOST`, for one, holds a host, usually without scheme and path: `0.0.0.0:11434`. */
function completeUrl(given: string, usual: string): string {
  const isHost = !/^https?:\/\//i.test(given)
  const url = URL.parse(isHost ? `http://${given}` : given)
  if (!url) return given
  const { port, pathname } = new URL(usual)
  if (isHost && url.port === '' && !/:80$/.test(given)) url.port = port
  if (url.hostname === '0.0.0.0') url.hostname = '127.0.0.1'
  if (url.pathname === '/') url.pathname = pathname
  return url.href
}

const azure: BuiltIn = {
  id: 'azure',
  fields: { api_key: ['AZURE_API_KEY', 'AZURE_OPENAI_API_KEY'], resource: ['AZURE_RESOURCE_NAME'], base_url: ['AZURE_OPENAI_ENDPOINT'] },
  methods: [
    ['api_key', 'resource'],
    ['resource', 'api_key'],
    ['base_url', 'api_key'],
  ],
  make: ({ resource, ...access }) => known.azure({ ...optionsOf(access), resource }),
}

const claudeOnAws: BuiltIn = {
  id: 'anthropic-aws',
  fields: {
    api_key: ['ANTHROPIC_AWS_API_KEY'],
    workspace: ['ANTHROPIC_AWS_WORKSPACE_ID'],
    region: ['AWS_REGION', 'AWS_DEFAULT_REGION'],
    base_url: [],
  },
  methods: [
    ['api_key', 'workspace', 'region'],
    ['workspace', 'api_key', 'region'],
  ],
  make: ({ region, workspace, ...access }) => known.claudeOnAws({ ...optionsOf(access), region, workspace }),
}

/** A Bedrock API key, or AWS access keys. */
const amazonBedrock: BuiltIn = {
  id: 'amazon-bedrock',
  fields: {
    api_key: ['AWS_BEARER_TOKEN_BEDROCK'],
    access_key_id: ['AWS_ACCESS_KEY_ID'],
    secret_access_key: ['AWS_SECRET_ACCESS_KEY'],
    session_token: ['AWS_SESSION_TOKEN'],
    region: ['AWS_REGION', 'AWS_DEFAULT_REGION'],
    base_url: [],
  },
  methods: [
    ['api_key', 'region'],
    ['access_key_id', 'secret_access_key', 'region'],
    ['secret_access_key', 'access_key_id', 'region'],
  ],
  make: ({ region, access_key_id: accessKeyId, secret_access_key: secretAccessKey, session_token: sessionToken, ...access }) =>
    known.amazonBedrock({ ...optionsOf(access), region, accessKeyId, secretAccessKey, sessionToken }),
}

/** A service account, or an express mode key. */
const googleVertex: BuiltIn = {
  id: 'google-vertex',
  fields: {
    project: ['GOOGLE_VERTEX_PROJECT'],
    location: ['GOOGLE_VERTEX_LOCATION', 'GOOGLE_CLOUD_LOCATION'],
    credentials_file: ['GOOGLE_APPLICATION_CREDENTIALS'],
    api_key: ['GOOGLE_VERTEX_API_KEY'],
    base_url: [],
  },
  // Other Google libraries use the file's variable too, so it does not signal Vertex.
  methods: [['project', 'credentials_file'], ['api_key']],
  make: ({ project, location, credentials_file: file, ...access }) =>
    known.googleVertex({
      ...optionsOf(access),
      project,
      location,
      serviceAccount: file !== undefined && access.api_key === undefined ? readServiceAccount(file) : undefined,
    }),
}

type ServiceAccount = NonNullable<known.VertexOptions['serviceAccount']>

/** Reads the JSON key of a Google service account. Messages never quote it. */
function readServiceAccount(file: string): ServiceAccount {
  const key = parseJson(readKeyFile(file))
  if (isServiceAccount(key)) return key
  throw new StartError(`The file ${file} is not a service account key: it must be JSON with \`client_email\` and \`private_key\`.`)
}

function readKeyFile(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    throw new StartError(`The key of the service account ${file} cannot be read (${(error as NodeJS.ErrnoException).code}).`)
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function isServiceAccount(key: unknown): key is ServiceAccount {
  if (typeof key !== 'object' || key === null) return false
  const { client_email, private_key }: Partial<Record<keyof ServiceAccount, unknown>> = key
  return typeof client_email === 'string' && typeof private_key === 'string'
}

const cloudflare: BuiltIn = {
  id: 'cloudflare-workers-ai',
  fields: { api_key: ['CLOUDFLARE_API_KEY', 'CLOUDFLARE_API_TOKEN'], account_id: ['CLOUDFLARE_ACCOUNT_ID'], base_url: [] },
  methods: [['api_key', 'account_id']],
  make: access => known.cloudflare({ ...optionsOf(access), accountId: access.account_id }),
}

const vendors = Object.values<unknown>(known)
  .filter(known.isVendor)
  .sort((one, other) => (one.row.id < other.row.id ? -1 : 1))
const makers = vendors.filter(({ row }) => !row.isHost && !row.keyless)
const hosts = vendors.filter(({ row }) => row.isHost)
const selfHosted = vendors.filter(({ row }) => row.keyless)

/** The built-in providers, in the order in which equal ones are tried: makers of models, then hosts, then self-hosted servers, each by id. */
export const builtIns: readonly BuiltIn[] = [
  keyed('openai', known.openai, 'OPENAI_API_KEY'),
  keyed('anthropic', known.anthropic, 'ANTHROPIC_API_KEY'),
  keyed('google', known.google, 'GEMINI_API_KEY', 'GOOGLE_API_KEY', 'GOOGLE_GENERATIVE_AI_API_KEY'),
  googleVertex,
  claudeOnAws,
  amazonBedrock,
  azure,
  ...makers.map(fromVendor),
  ...hosts.map(fromVendor),
  cloudflare,
  ...selfHosted.map(fromVendor),
]
