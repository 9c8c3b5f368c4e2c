import { createRequire } from 'node:module'
import { compileFunction } from 'node:vm'
import type { createRouter } from '@signalbox/router'
import type { Policy } from './policy.ts'

/** Tuning constants by name, as in `circuitBreaker.firstPauseMs`. */
export type Constants = Readonly<Record<string, number>>

export interface TunedRouter {
  readonly policy: Policy
  /** All constants that this router uses. */
  readonly constants: Constants
}

/** A number, or a group of them by name. */
type Tuning = number | { readonly [name: string]: Tuning }

interface RouterModule {
  readonly createRouter: typeof createRouter
  readonly tuning: Tuning
}

const require = createRequire(import.meta.url)

/** Creates the router of `bundleTunableRouter` with some constants changed. Throws if a name is unknown. */
export function loadRouter(code: string, changed: Constants): TunedRouter {
  const module = {} as RouterModule
  compileFunction(code, ['exports', 'require', 'changed'])(module, require, changed)
  const policy: Policy = {
    name: 'tuned',
    create: ({ offers, worth, now, seed }) => module.createRouter({ offers, preference: worth, clock: { now }, seed }),
  }
  return { policy, constants: Object.fromEntries(flat(module.tuning)) }
}

const flat = (tuning: Tuning, path = ''): [string, number][] =>
  typeof tuning === 'number'
    ? [[path, tuning]]
    : Object.entries(tuning).flatMap(([name, inner]) => flat(inner, path === '' ? name : `${path}.${name}`))
