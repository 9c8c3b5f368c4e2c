import { type Cancellation, createCancellation } from '../runtime/cancellation.ts'

/** The cancellation of one of two concurrent calls of a request: it follows the request, and can be aborted alone. */
export interface AbortScope extends Cancellation {
  /** The other call won, or the request is over. */
  readonly isAborted: boolean
  abort(): void
}

/** `cancel` of the scope cancels the whole request; `abort` ends only the scope. */
export function abortScope(request: Cancellation): AbortScope {
  const own = createCancellation()
  const cancelOwn = own.cancel
  const release = request.onCancel(() => cancelOwn(request.reason ?? 'client_left'))
  const scope: { -readonly [K in keyof AbortScope]: AbortScope[K] } = Object.assign(own, {
    cancel: request.cancel,
    isAborted: false,
    abort() {
      scope.isAborted = true
      release()
      cancelOwn('client_left')
    },
  })
  return scope
}
