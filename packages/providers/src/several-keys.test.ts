import type { Provider } from '@signalbox/dialects/protocol'
import { expect, test } from 'vitest'
import { amazonBedrock } from './amazon-bedrock.ts'
import { anthropic, claudeOnAws } from './anthropic.ts'
import { azure } from './azure.ts'
import { cloudflare } from './cloudflare.ts'
import { compatible } from './compatible.ts'
import { google } from './google.ts'
import { googleVertex } from './google-vertex.ts'
import { groq } from './hosts.ts'
import { openai } from './openai.ts'

const makers: readonly [string, (apiKey: string | readonly string[]) => Provider][] = [
  ['openai', apiKey => openai({ apiKey })],
  ['anthropic', apiKey => anthropic({ apiKey })],
  ['claudeOnAws', apiKey => claudeOnAws({ apiKey, workspace: 'w' })],
  ['google', apiKey => google({ apiKey })],
  ['googleVertex', apiKey => googleVertex({ apiKey })],
  ['azure', apiKey => azure({ apiKey, resource: 'r' })],
  ['amazonBedrock', apiKey => amazonBedrock({ apiKey })],
  ['cloudflare', apiKey => cloudflare({ apiKey, accountId: 'a' })],
  ['groq', apiKey => groq({ apiKey })],
  ['compatible', apiKey => compatible({ id: 'local', baseURL: 'http://127.0.0.1:1/v1', apiKey })],
]

test.each(makers)('%s takes one key or several, each as a credential of its own', (_, make) => {
  const several = make(['key-one', '', 'key-two', 'key-one', 'key-three'])
  const { credential, moreCredentials = [], id } = several
  const all = [credential, ...moreCredentials]
  expect(all.map(each => each?.secret)).toEqual(['key-one', 'key-two', 'key-three'])
  expect(all.map(each => each?.id)).toEqual([`${id}:platform`, `${id}:platform:2`, `${id}:platform:3`])
  for (const each of all) expect(each?.extra).toEqual(credential?.extra)
  expect(JSON.stringify(several)).not.toContain('key-')
  expect(make('key-one')).toMatchObject({ credential: { id: `${id}:platform`, secret: 'key-one' } })
  expect(make(['key-one'])).not.toHaveProperty('moreCredentials')
})

test('a list that is not of strings is refused without showing it', () => {
  expect(() => openai({ apiKey: ['sk-one', 2] as unknown as string[] })).toThrow(
    'openai: `apiKey` is a list; it takes a string or a list of strings.',
  )
  expect(openai({ apiKey: [] })).not.toHaveProperty('credential')
})
