import type { DynamicRouter, RouterAttempt } from '@signalbox/router'
import { expect, test } from 'vitest'
import type { UpstreamCall } from '../../upstream/call.ts'
import { reportOvertaken } from './report-outcome.ts'

test('a call that another one overtook is no longer under way for the router, and is told once', () => {
  const attempt = {} as RouterAttempt
  const abandoned: RouterAttempt[] = []
  const router = { abandonAttempt: (each: RouterAttempt) => void abandoned.push(each) } as unknown as DynamicRouter
  const call = { underway: attempt } as unknown as UpstreamCall
  reportOvertaken(router, call)
  reportOvertaken(router, call)
  expect(abandoned).toEqual([attempt])
  expect(call.underway).toBeUndefined()
})
