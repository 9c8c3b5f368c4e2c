import type { DynamicRouter, RouterAttempt } from '@signalbox/router'
import { expect, test } from 'vitest'
import type { UpstreamCall } from '../../upstream/call.ts'
import { reportOvertaken } from './report-outcome.ts'

test('a call that lost to its hedge is no longer in flight for the router, and is reported once', () => {
  const attempt = {} as RouterAttempt
  const abandoned: RouterAttempt[] = []
  const router = { abandonAttempt: (each: RouterAttempt) => void abandoned.push(each) } as unknown as DynamicRouter
  const call = { underway: attempt } as unknown as UpstreamCall
  reportOvertaken(router, call)
  reportOvertaken(router, call)
  expect(abandoned).toEqual([attempt])
  expect(call.underway).toBeUndefined()
})
