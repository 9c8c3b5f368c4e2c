import { type Ending, makeEnding } from '../runtime/ending.ts'

/** The ending of one of two calls that a request makes at once: it ends with the request, and can be ended alone. */
export interface Branch extends Ending {
  /** The other call answered first, or nobody waits for this one any more. */
  readonly isCut: boolean
  cut(): void
}

/** Whoever ends a branch from inside ends the request. */
export function branchOf(trunk: Ending): Branch {
  const own = makeEnding()
  const endOwn = own.end
  const letGo = trunk.onEnd(() => endOwn(trunk.why ?? 'client_left'))
  const branch: { -readonly [K in keyof Branch]: Branch[K] } = Object.assign(own, {
    end: trunk.end,
    isCut: false,
    cut() {
      branch.isCut = true
      letGo()
      endOwn('client_left')
    },
  })
  return branch
}
