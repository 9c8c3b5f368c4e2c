import { readFileSync, writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Provider, Quirks } from '@signalbox/dialects/protocol'
import { expect, test } from 'vitest'
import { type Access, type AccessField, fieldsOf } from '../src/access.ts'
import { type BuiltIn, builtIns } from '../src/built-in.ts'

const path = resolve(import.meta.dirname, '../../../docs/providers.md')

/** Placeholders in URLs for the reader's own values. */
const placeholders: Access = {
  api_key: 'key',
  region: 'us-east-1',
  resource: 'resource',
  project: 'project',
  location: 'global',
  account_id: 'account',
  workspace: 'workspace',
}

const make = (row: BuiltIn): Provider =>
  row.make(Object.fromEntries(fieldsOf(row).flatMap(field => (placeholders[field] === undefined ? [] : [[field, placeholders[field]]]))))

const code = (text: string): string => `\`${text}\``

/** Each way to turn it on, as the variables that it takes together. */
function variablesOf({ methods, fields }: BuiltIn): string {
  const named = (field: AccessField): string => (fields[field] ?? []).map(code).join(' or ')
  const sets = methods.map(way => way.toSorted().join())
  const told = methods.filter((_, at) => sets.indexOf(sets[at] ?? '') === at)
  return told.map(way => way.map(named).join(' and ')).join('; or ')
}

function addressOf(provider: Provider): string {
  const [dialect] = provider.dialects
  const { credential } = provider
  return dialect && credential ? code(provider.endpoint({ api: dialect.name, model: 'MODEL', stream: false, credential })) : '–'
}

/** How each quirk reads; quirks that are missing here are too small to mention. */
const notable: { readonly [Name in keyof Quirks]?: (value: NonNullable<Quirks[Name]>) => string } = {
  refuses: fields =>
    `drops ${fields
      .filter(field => field !== 'tool_choice_required')
      .map(code)
      .join(', ')}`,
  efforts: efforts => `efforts ${efforts.join(', ')}`,
  thinkingSwitch: () => 'thinking is switched on or off',
  billingHeader: () => 'keeps the billing header of Claude Code',
  earlierReasoning: () => 'earlier reasoning of its own only',
  reasoningField: field => `earlier reasoning go back as ${code(field)}`,
  seedField: field => `seed is ${code(field)}`,
  requiredToolChoice: name => `a demanded tool is ${code(name)}`,
  callIdLength: length => `call ids of ${length} characters`,
  noJsonSchema: () => 'schemas are told in words',
  noForcedTools: () => 'tools cannot be demanded',
  noPrefill: () => 'does not continue an assistant message',
  inlineMediaOnly: () => 'images as bytes only',
  standardTier: tier => (tier === 'default' ? '' : `the standard tier is ${code(tier)}`),
  priorityTier: tier => `priority is ${code(tier)}`,
}

function departuresOf({ quirks = {} }: Provider): string {
  const told = Object.entries(notable).flatMap(([name, tell]) => {
    const value = quirks[name as keyof Quirks]
    return value === undefined ? [] : [(tell as (value: unknown) => string)(value)]
  })
  return told.filter(text => text !== '').join('; ')
}

/** How a workspace's own key is checked, and its other fields. */
function ownKeyOf(provider: Provider): string {
  const { account = {}, credential } = provider
  const secret = account.json ? '{}' : 'key'
  const check = credential && account.check?.({ ...credential, owner: 'workspace', secret })
  const path = check?.url?.replace(/^https?:\/\/[^/]+/, '')
  const looked = check ? (path === undefined ? 'by the token that it is good for' : code(`GET ${path}`)) : 'by its use'
  return [looked, ...(account.extra ?? []).map(name => code(`extra.${name}`))].join('; ')
}

const row = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`

/** The page as the tables say it should be. `UPDATE_DOCS=1 pnpm test docs` writes it. */
const page = `# Providers

Written from \`packages/providers/src\` and \`packages/cli/src/built-in.ts\`; a test keeps it true.

The standalone server turns a provider on where its variables are set; \`providers\` of the config says the same by field. What a
provider refuses is left out of what it is told, and the caller reads a warning about it. Facts about single models are finer than
this page: they stand beside each provider's row and in the catalog. Which earlier reasoning goes back, and in which field of Chat
Completions, follows from the family of the model (\`packages/dialects/src/chat/encode-reasoning.ts\`), else from the field that
the provider itself wrote it into; R1 alone gets none.

A key that a workspace brings (BYOK) is looked at as the fifth column says, at the same host as calls with it: where the list of
models is open to anybody, or a key may call models without listing them, only its use tells whether it is good, and its
\`validation_status\` stays \`pending\` until a call is refused with 401. \`extra\` is what the provider has to know of the account.

In code each is a function of \`signalbox/providers\`, named like its id in camel case: \`openrouter\`, \`zaiCn\`. Four have other names:
\`claudeOnAws\` (\`anthropic-aws\`), \`moonshot\` and \`moonshotCn\` (\`moonshotai\`, \`moonshotai-cn\`), and \`llamaCpp\` (\`llama.cpp\`).

| id | variables | dialects | address | own keys | departs |
|---|---|---|---|---|---|
${builtIns
  .map(builtIn => {
    const provider = make(builtIn)
    const dialects = provider.dialects.map(({ name }) => name).join(', ')
    return row([code(builtIn.id), variablesOf(builtIn), dialects, addressOf(provider), ownKeyOf(provider), departuresOf(provider)])
  })
  .join('\n')}

In code, \`compatible({ id, baseURL, apiKey, apis })\` is any other server. A key that a workspace brings for it is looked at with
\`GET /models\` below \`baseURL\`, and used at the same address; of a server whose list is open to anybody, each key counts as valid. With
\`byok: false\` workspaces bring no keys for it, and \`GET /v1/byok/providers\`, which anybody may read, leaves it out.

Several keys of different accounts are a list: each has its limits of its own, and a key that is refused or limited leaves the others in use. In the server
that is \`OPENAI_API_KEY=sk-one,sk-two\`, or a list as \`api_key\`.

\`\`\`ts
import { openai } from 'signalbox/providers'

const severalAccounts = openai({ apiKey: ['sk-of-one-account', 'sk-of-another-account'] })
console.log(severalAccounts.id)
\`\`\`

GPT-5.6 and later take no function tools beside a reasoning effort in Chat Completions, as \`azure\` speaks it with \`surface: 'deployments'\`: the
effort becomes \`none\` there, with a warning. The quirk \`effortWithoutTools\` says so of an offer of your own; Responses has no such limit.
GPT-6 Astra and GPT-6.1 Sol take no function tools there at all (\`toolsInResponses\`): an offer of theirs that names Chat Completions is asked
in Responses where its provider speaks it, and gets no request with tools elsewhere (400 \`capability_mismatch\`).

In the server, any other server is listed with its \`id\`, its \`base_url\` and what it \`speaks\`: \`responses\`, \`chat\`, \`messages\`, \`gemini\`,
\`bedrock\`. Its key goes as a bearer token, for \`messages\` as \`x-api-key\`, for \`gemini\` as \`x-goog-api-key\`.

## Simulated providers

To try routing, streaming, fallbacks and cost offline, and in tests of an app: no key, no network. The server turns them on where no provider has a
key. In code, \`simulated\` is one more provider; its models are \`echo\` and \`story\`.

\`\`\`ts
import { createGateway, memoryStorage } from 'signalbox'
import { simulated } from 'signalbox/providers'

const price = { input: 1_000_000, output: 5_000_000 }
const offline = createGateway({
  // failEvery: 3 fails each third call
  providers: [simulated({ id: 'sim', firstWordMs: 20, wordMs: 5, failEvery: 0 })],
  models: [
    {
      id: 'small',
      offers: [{ provider: 'sim', model: 'story', api: 'chat', price }],
    },
  ],
  storage: memoryStorage(),
})
console.log((await offline.health()).problems)
\`\`\`
`

test('docs/providers.md matches the provider tables', () => {
  if (process.env.UPDATE_DOCS) writeFileSync(path, page)
  expect(readFileSync(path, 'utf8')).toBe(page)
})

test.each([
  ['README.md', /those of (\d+) providers/],
  ['docs/changelog.md', /(\d+) built-in providers/],
])('%s states how many providers are built in', (file, figure) => {
  const text = readFileSync(resolve(import.meta.dirname, '../../..', file), 'utf8')
  expect(text.match(figure)?.[1]).toBe(String(builtIns.length))
})
