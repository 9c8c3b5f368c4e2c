import { expect, test } from 'vitest'
import { createApi } from '../src/index.ts'
import { errorsOf } from '../src/openapi/responses.ts'
import { allRoutes } from '../src/routes.ts'
import { ask, parsed } from './asking.ts'
import { fakeGateway } from './fake-gateway.ts'

test('each public route that refuses unknown query parameters documents it, and no other does', async () => {
  const api = createApi(fakeGateway().gateway)
  const open = allRoutes.filter(({ needs, rate }) => needs === 'nothing' && rate !== 'inference')
  expect(open.length).toBeGreaterThan(5)
  for (const row of open) {
    const { method, path } = row
    const reply = await ask(api, `${method} ${path.replace(/:\w+/g, 'x')}`, {
      query: 'zzz=1',
      headers: { 'content-type': 'application/json' },
    })
    const isRefused = parsed(reply).error?.code === 'unknown_parameter'
    expect([path, isRefused]).toEqual([path, errorsOf(row).includes('unknown_parameter')])
  }
})
