import {
  type ApiKeys,
  type AuthorizationContext,
  type Credential,
  dialectFor,
  type EndpointContext,
  isObject,
  type Json,
  type Provider,
  platformCredentials,
} from '@signalbox/dialects/protocol'
import { bedrockProvider, chatProvider, responsesProvider } from '@signalbox/dialects/providers'
import type { OptionTableOf } from '@signalbox/storage/option-table'
import { AwsV4Signer } from 'aws4fetch'
import { baseModelOf, bedrockQuirksOf, mantlePathOf } from './amazon-bedrock-models.ts'
import { providerOptions } from './provider-options.ts'

/** Options of `amazonBedrock`: either an API key or access keys. */
export interface BedrockOptions {
  /** Region of the account. Default: `us-east-1`. */
  readonly region?: string | undefined
  /** A Bedrock API key, or several of different accounts. Replaces the access keys. */
  readonly apiKey?: ApiKeys | undefined
  /** Access key id. */
  readonly accessKeyId?: string | undefined
  /** Secret access key. */
  readonly secretAccessKey?: string | undefined
  /** Session token of temporary access keys. */
  readonly sessionToken?: string | undefined
  /**
   * Base URL of the Converse API; `{region}` is replaced by the account's region. Default:
   * `https://bedrock-runtime.{region}.amazonaws.com`.
   */
  readonly baseURL?: string | undefined
  /** Base URL of the OpenAI-compatible APIs, without a path. Default: `https://bedrock-mantle.{region}.api.aws`. */
  readonly mantleURL?: string | undefined
}

const bedrockOptions: OptionTableOf<BedrockOptions> = {
  region: 'text',
  apiKey: 'text or texts',
  accessKeyId: 'text',
  secretAccessKey: 'text',
  sessionToken: 'text',
  baseURL: 'text',
  mantleURL: 'text',
}

/**
 * Amazon Bedrock: Converse, plus the OpenAI-compatible APIs for models that support them. A credential is a Bedrock API key or access keys
 * as JSON, `{"access_key_id", "secret_access_key", "session_token"?}`; its `extra.region` overrides the region.
 *
 * @example amazonBedrock({ region: 'eu-central-1', apiKey: process.env.AWS_BEARER_TOKEN_BEDROCK })
 */
export function amazonBedrock(options: BedrockOptions = {}): Provider<'amazon-bedrock'> {
  const {
    region = 'us-east-1',
    baseURL = 'https://bedrock-runtime.{region}.amazonaws.com',
    mantleURL = 'https://bedrock-mantle.{region}.api.aws',
    ...keys
  } = providerOptions('amazonBedrock', options, bedrockOptions)
  const rootOf = (url: string, credential: Credential): string => url.replace(/\/+$/, '').replace('{region}', regionOf(credential, region))
  const dialects = [bedrockProvider, responsesProvider, chatProvider]
  const pathOf = (call: EndpointContext): string => {
    const path = dialectFor({ dialects }, call)?.path ?? ''
    return typeof path === 'string' ? mantlePathOf(call.model) + path : path(call)
  }
  return {
    id: 'amazon-bedrock',
    displayName: 'Amazon Bedrock',
    dialects,
    ...platformCredentials({ id: 'amazon-bedrock' }, platformSecret(keys)),
    quirks: { inlineMediaOnly: true, priorityTier: 'priority', maxTokensField: 'max_tokens' },
    quirksOf: bedrockQuirksOf,
    dataPolicy: 'zdr',
    endpoint: call => rootOf(isConverse(call.api) ? baseURL : mantleURL, call.credential) + pathOf(call),
    // The token counter accepts model ids only, not cross-region inference profiles.
    countEndpoint: ({ api, model, credential }) =>
      isConverse(api) ? `${rootOf(baseURL, credential)}/model/${encodeURIComponent(baseModelOf(model))}/count-tokens` : undefined,
    // No check: a key that may call a model may still lack permission to list models.
    account: { extra: ['region'], json: true, options: '`apiKey`, or `accessKeyId` and `secretAccessKey`' },
    async authorize(headers, credential, call) {
      const keys = accessKeysIn(credential.secret)
      if (keys) await sign(headers, { keys, region: regionOf(credential, region), call })
      else headers.authorization = `Bearer ${credential.secret}`
    },
  }
}

const isConverse = (dialect: string): boolean => dialect === bedrockProvider.name

/** Validated because workspaces can set the region, and it becomes part of a host name. */
function regionOf({ extra }: Credential, otherwise: string): string {
  const region = extra?.region ?? otherwise
  if (!/^[a-z]{2,4}(-[a-z]{2,12}){1,3}-\d{1,2}$/.test(region))
    throw new TypeError('The region of a Bedrock account must look like "us-east-1".')
  return region
}

interface AccessKeys {
  readonly access_key_id: string
  readonly secret_access_key: string
  readonly session_token?: string
}

function platformSecret({ apiKey, accessKeyId, secretAccessKey, sessionToken }: BedrockOptions): ApiKeys | undefined {
  if (apiKey !== undefined) return apiKey
  if (accessKeyId === undefined || secretAccessKey === undefined) return undefined
  return JSON.stringify({ access_key_id: accessKeyId, secret_access_key: secretAccessKey, session_token: sessionToken })
}

/** The access keys in a secret, or undefined if the secret is an API key. */
function accessKeysIn(secret: string): AccessKeys | undefined {
  if (!secret.trimStart().startsWith('{')) return undefined
  const keys = parseJson(secret)
  const { access_key_id, secret_access_key, session_token } = isObject(keys) ? keys : {}
  if (typeof access_key_id !== 'string' || typeof secret_access_key !== 'string')
    throw new TypeError('AWS access keys must be JSON with `access_key_id` and `secret_access_key`.')
  return {
    access_key_id,
    secret_access_key,
    session_token: typeof session_token === 'string' && session_token !== '' ? session_token : undefined,
  }
}

function parseJson(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json
  } catch {
    return undefined
  }
}

interface SigningInput {
  readonly keys: AccessKeys
  readonly region: string
  readonly call: AuthorizationContext
}

/** Signs the URL, host, time and body with Signature Version 4. Leaves out headers that a proxy could change. */
async function sign(headers: Record<string, string>, { keys, region, call }: SigningInput): Promise<void> {
  const signer = new AwsV4Signer({
    method: 'POST',
    url: call.url,
    body: call.body,
    accessKeyId: keys.access_key_id,
    secretAccessKey: keys.secret_access_key,
    sessionToken: keys.session_token,
    service: isConverse(call.api) ? 'bedrock' : 'bedrock-mantle',
    region,
    datetime: new Date(call.now).toISOString().replace(/[:-]|\.\d{3}/g, ''),
  })
  const signed = await signer.sign()
  signed.headers.forEach((value, name) => {
    headers[name] = value
  })
}
