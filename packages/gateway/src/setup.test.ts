import type { Logger } from '@signalbox/core/runtime'
import { fakeClock } from '@signalbox/testing'
import type { Workspaces } from '@signalbox/workspaces'
import { expect, test } from 'vitest'
import { createSetup, type SetupRuns } from './setup.ts'

test('a setup that waits for itself ends after ten seconds, and the log says what to use instead', async () => {
  const clock = fakeClock()
  const errors: unknown[] = []
  const logger = { error: (facts: unknown) => errors.push(facts) } as unknown as Logger
  const runs: SetupRuns = createSetup({ setup: () => runs.beforeRequest(), workspaces: () => ({}) as Workspaces, clock, logger })
  const refused = expect(runs.beforeRequest()).rejects.toMatchObject({ code: 'service_unavailable' })
  await clock.advance(10_000)
  await refused
  expect(errors).toEqual([{ error: expect.stringContaining('Use the `workspaces` passed to `setup`') }])
})
