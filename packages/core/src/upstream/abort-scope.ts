import { type Ending, makeEnding } from '../runtime/ending.ts'

/** The ending of one of two calls that a request makes at once: it ends with the request, and can be ended alone. */
export interface AbortScope extends Ending {
  /** The other call answered first, or the request is over. */
  readonly isAborted: boolean
  abort(): void
}

/** `end` of the scope ends the whole request; `abort` ends the scope alone. */
export function abortScope(request: Ending): AbortScope {
  const own = makeEnding()
  const endOwn = own.end
  const release = request.onEnd(() => endOwn(request.why ?? 'client_left'))
  const scope: { -readonly [K in keyof AbortScope]: AbortScope[K] } = Object.assign(own, {
    end: request.end,
    isAborted: false,
    abort() {
      scope.isAborted = true
      release()
      endOwn('client_left')
    },
  })
  return scope
}
