import { readdirSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { createDynamicRouter } from '@signalbox/router'
import { expect, test } from 'vitest'
import { createMatcher } from '../../api/src/match.ts'
import { allRoutes } from '../../api/src/routes.ts'
import { testGateway } from '../src/index.ts'
import { productSources } from './code/sources.ts'

// Messages and pages name calls such as `billing.credit`, and endpoints, as the way out. Each of them must exist.

const docs = resolve(import.meta.dirname, '../../../docs')
/** Pages with calls that no longer exist, or never did. */
const invented = /^(?:changelog|how-to\/add-a-route)\.md$/
const pages = readdirSync(docs, { recursive: true, encoding: 'utf8' })
  .filter(path => path.endsWith('.md') && !path.startsWith('.vitepress') && !invented.test(path) && !path.startsWith('decisions'))
  .map(path => ({ path: `docs/${path}`, text: readFileSync(resolve(docs, path), 'utf8').replace(/^```[\s\S]*?^```/gm, '') }))
const messages = productSources().map(({ path, code }) => ({ path, text: code.replaceAll('\\`', '`') }))

/** Objects with methods, by the name that messages and pages give them. */
async function objects(): Promise<ReadonlyMap<string, object>> {
  const { gateway, close } = await testGateway()
  const workspace = gateway.workspaces('ws_1')
  const resources = Object.entries(workspace).filter(
    (entry): entry is [string, object] => typeof entry[1] === 'object' && entry[1] !== null,
  )
  await close()
  const router = createDynamicRouter({ monotonic: () => 0, preference: 'balanced', seed: 1 })
  return new Map<string, object>([...resources, ['gateway', gateway], ['workspaces', gateway.workspaces], ['router', router]])
}

/** Settings and fields of bodies that share the name of an object. */
const fields: Readonly<Record<string, RegExp>> = {
  gateway: /^(ts|routing|models|metadata|serviceTier|tags)$/,
  billing: /^(onReload|hasPaymentMethod)$/,
  limits: /./,
}

/** `a.b`, `a.b(…)`, `gateway.workspaces(id).a.b(…)` in backticks: the last object and the name after it. */
const calls = /`(?:await )?(?:gateway\.workspaces\([^)`]*\)\.)?(\w+)\.(\w+)(\([^`]*)?`/g

test('each call that a message or a page names exists', async () => {
  const known = await objects()
  const missing: string[] = []
  let found = 0
  for (const { path, text } of [...messages, ...pages]) {
    for (const [whole, name = '', member = '', call] of text.matchAll(calls)) {
      const object = known.get(name)
      if (!object || (call === undefined && fields[name]?.test(member))) continue
      found += 1
      if (!(member in object)) missing.push(`${path}: ${whole}`)
    }
  }
  expect(missing).toEqual([])
  expect(found).toBeGreaterThan(20)
})

test('each endpoint that a message or a page names exists', () => {
  const match = createMatcher(allRoutes, '')
  const isThere = (method: string, path: string): boolean => {
    try {
      return match(method, path).kind === 'row'
    } catch {
      return false
    }
  }
  const endpoints = /\b(GET|POST|PATCH|PUT|DELETE) (\/v1\/[\w/:{}…+.-]*[\w}…+])/g
  const named = [...messages, ...pages].flatMap(({ path, text }) =>
    [...text.matchAll(endpoints)].map(([whole, method = '', route = '']) => ({ place: `${path}: ${whole}`, method, route })),
  )
  const missing = named.filter(({ method, route }) => !isThere(method, route.replace(/[:{…][\w+]*\}?/g, 'x').replace(/\.$/, '')))
  expect(missing.map(({ place }) => place)).toEqual([])
  expect(named.length).toBeGreaterThan(20)
})
