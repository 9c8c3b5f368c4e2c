import { checkAddress } from '../address.ts'
import { StartError } from '../fault.ts'
import type { Config } from '../schema.ts'
import { activeWorkers, type PrimaryState } from './primary-state.ts'
import { fillPlaces, startWorker } from './supervise.ts'
import { checkWorkers, workerCount } from './worker-count.ts'

/** Draining workers per configured worker; a restart waits while there are more. */
const maxDraining = 3

/**
 * Replaces the workers one by one with workers that use the current config. Each listens before an old one stops, so that every connection
 * is accepted. If the config is invalid, the old workers stay.
 */
export async function restartWorkers(state: PrimaryState, readConfig: () => Config): Promise<void> {
  const began = performance.now()
  const generation = state.generation + 1
  try {
    await replaceAll(state, await nextConfig(state, readConfig), generation)
    if (state.phase === 'stopping') return
    const facts = { workers: activeWorkers(state).length, ms: Math.round(performance.now() - began) }
    state.logger.info(facts, 'SIGHUP: the workers were restarted with the current config.')
  } catch (error) {
    if (state.phase === 'stopping') return
    const old = activeWorkers(state).filter(worker => worker.generation < generation).length
    const facts = { error: reasonOf(error), old_workers: old, new_workers: activeWorkers(state).length - old }
    state.logger.error(facts, 'SIGHUP: no worker could be started with the current config; the running workers continue.')
  }
  fillPlaces(state)
}

/** @throws {StartError} Says why the config cannot be used. */
async function nextConfig(state: PrimaryState, readConfig: () => Config): Promise<Config> {
  const config = readConfig()
  checkWorkers(config)
  const { host, port } = state.config
  if (config.host !== host || config.port !== port) await checkAddress(config)
  return config
}

async function replaceAll(state: PrimaryState, config: Config, generation: number): Promise<void> {
  const count = workerCount(config)
  for (let started = 0; started < count && state.phase === 'running'; started++) {
    await roomToDrain(state, count)
    const isFirst = started === 0
    const { message, showsKeys } = await startWorker(state, { config, generation, isFirst }, { isTrial: true }).listening
    if (isFirst) {
      Object.assign(state, { config, generation })
      if (showsKeys) state.print(message)
    }
    drainOldest(state)
  }
  while (drainOldest(state)) await roomToDrain(state, count)
}

/** Drains a worker of an older config. False if there is none. */
function drainOldest(state: PrimaryState): boolean {
  const worker = activeWorkers(state).find(({ generation }) => generation < state.generation)
  if (!worker || state.phase === 'stopping') return false
  worker.state = 'draining'
  worker.send({ type: 'drain', graceMs: worker.config.timeouts.deadline_ms })
  return true
}

async function roomToDrain(state: PrimaryState, count: number): Promise<void> {
  for (;;) {
    const draining = [...state.workers].filter(worker => worker.state === 'draining')
    if (draining.length < maxDraining * count) return
    await Promise.race(draining.map(({ exited }) => exited))
  }
}

const reasonOf = (error: unknown): string => (error instanceof StartError ? error.message : String((error as Error).stack))
