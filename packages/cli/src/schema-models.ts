import { type BuiltInDialect, providerDialects } from '@signalbox/dialects'
import { abilities } from '@signalbox/dialects/protocol'
import * as z from 'zod/v4'
import {
  amountInUsd,
  fileName,
  isWebAddress,
  label,
  list,
  name,
  oneOf,
  secret,
  section,
  textLike,
  textThat,
  trueOrFalse,
  urlPart,
  whole,
} from './schema-fields.ts'

// The sections of the config about providers, models and the catalog.

const dialects = Object.keys(providerDialects) as [BuiltInDialect, ...BuiltInDialect[]]
const price = () => amountInUsd('US dollars per million tokens', 1_000_000)

export const provider = section({
  id: textLike('1 to 64 letters, digits, `-`, `_` and `.`', /^[\w.-]{1,64}$/).describe(
    'Id of the provider. That of a built-in one is enough where its key is in a variable',
  ),
  speaks: list(oneOf(dialects)).optional().describe('Dialects of a provider that is not built in. Default: `["chat"]`'),
  base_url: textThat('an http or https address, as in https://api.example.com/v1', isWebAddress)
    .optional()
    .describe('Address of a provider that is not built in, or another address of one that is'),
  api_key: z
    .union([secret(), list(secret())], { error: 'a string of visible ASCII characters without spaces, or a list of them' })
    .optional()
    .describe('The key, or a list of keys of different accounts'),
  api_key_env: textLike('the name of an environment variable', /^\w+$/)
    .optional()
    .describe('The environment variable that holds the key, in place of `api_key`, or several separated by commas'),
  // `built-in.ts` defines which provider takes which of these.
  region: urlPart().optional().describe('Region of the account, at Amazon'),
  access_key_id: secret().optional().describe('Id of an access key, at Amazon Bedrock'),
  secret_access_key: secret().optional().describe('Secret of the access key, at Amazon Bedrock'),
  session_token: secret().optional().describe('Token of a temporary access key, at Amazon Bedrock'),
  resource: urlPart().optional().describe('Name of the resource, at Azure'),
  project: urlPart().optional().describe('Project, at Google Vertex'),
  location: urlPart().optional().describe('Location, at Google Vertex, such as `global`'),
  credentials_file: fileName().optional().describe('File with the key of a service account, at Google Vertex'),
  account_id: urlPart().optional().describe('Id of the account, at Cloudflare'),
  workspace: urlPart().optional().describe('Id of the workspace, at Anthropic on AWS'),
  data_policy: oneOf(['zdr', 'no_training', 'may_train', 'unknown'])
    .optional()
    .describe('What the provider does with prompts by your contract, if that differs from its terms'),
  provider_storage: trueOrFalse()
    .optional()
    .describe(
      'Whether requests with your key may name what is stored in your account (files, containers, vector stores, `gs:` addresses). Default: false',
    ),
  unpriced_tools: oneOf(['allow', 'refuse'])
    .optional()
    .describe(
      'Whether requests with your key may use tools that the provider runs and whose calls have no known price or cannot be counted. Default: `allow`',
    ),
})

const offer = section({
  provider: name().describe('Id of the provider that sells the model'),
  provider_model_id: name().describe("The provider's name for the model"),
  dialect: oneOf(dialects).describe('The dialect in which the provider is called'),
  context_window: whole(1).exactOptional().describe('Tokens of prompt and response together, if known'),
  max_output_tokens: whole(1).exactOptional().describe('Tokens of the longest response, if known'),
  price: section({
    input: price().describe('Price of input'),
    output: price().describe('Price of output'),
    cached: price().exactOptional().describe('Price of input from a prompt cache'),
    cache_write: price().exactOptional().describe('Price of writing input into a prompt cache'),
  })
    .exactOptional()
    .describe('Price. An offer without one is not used'),
  abilities: list(oneOf(abilities)).exactOptional().describe('What the model can do, if known'),
})

export const model = section({
  id: name().describe('Name of the model in requests'),
  aliases: list(name()).exactOptional().describe('Other names for it'),
  family: label().exactOptional().describe('Family, in the list of models'),
  display_name: label().exactOptional().describe('Name for people, in the list of models'),
  author: label().exactOptional().describe('Maker, in the list of models'),
  offers: list(offer).describe('Who sells it'),
})

export const customCatalog = section({
  file: fileName().optional().describe('A catalog file, read again when it changes. Default: the built-in catalog'),
  // The catalog checks these when the server starts.
  overrides: z
    .record(z.string(), z.unknown(), { error: 'an object' })
    .optional()
    .describe('Changes to the catalog, in the form that [catalog](catalog.md) describes'),
})
