import { expect, test } from 'vitest'
import { createCancellation } from '../runtime/cancellation.ts'
import { abortScope } from './abort-scope.ts'

function scene() {
  const request = createCancellation()
  const scope = abortScope(request)
  const log: string[] = []
  request.onCancel(() => void log.push('request'))
  scope.onCancel(() => void log.push('scope'))
  return { request, scope, log }
}

test('an aborted scope ends alone and reports it', () => {
  const { request, scope, log } = scene()
  expect(scope.isAborted).toBe(false)
  scope.abort()
  expect([scope.isAborted, scope.reason, request.reason, log]).toEqual([true, 'client_left', undefined, ['scope']])
  scope.abort()
  request.cancel('shut_down')
  expect(log).toEqual(['scope', 'request'])
})

test('a scope ends with its request and with the request’s reason, and was not aborted', () => {
  const { request, scope, log } = scene()
  request.cancel('shut_down')
  expect([scope.isAborted, scope.reason, [...log].sort()]).toEqual([false, 'shut_down', ['request', 'scope']])
})

test('cancelling a scope cancels the whole request', () => {
  const { request, scope, log } = scene()
  scope.cancel('shut_down')
  expect([request.reason, scope.reason, [...log].sort()]).toEqual(['shut_down', 'shut_down', ['request', 'scope']])
})
