import { expect, test } from 'vitest'
import { clientDialects } from '../index.ts'
import { errorBody, GatewayError } from './gateway-error.ts'

test('the body of an error names the provider that failed, and has no such field if none did', () => {
  expect(errorBody(new GatewayError('provider_error', { message: 'm', provider: 'p' }))).toEqual({
    status: 502,
    message: 'm',
    type: 'provider_error',
    code: 'provider_error',
    param: null,
    provider: 'p',
  })
  expect(Object.keys(errorBody(new GatewayError('invalid_request', { message: 'm' })))).not.toContain('provider')
})

test.each(Object.entries(clientDialects))('error responses of %s include the provider', (_, { encodeError }) => {
  const failed = errorBody(new GatewayError('provider_error', { message: 'm', provider: 'p' }))
  expect(encodeError(failed)).toMatchObject({ error: { provider: 'p' } })
  const { error } = encodeError(errorBody(new GatewayError('invalid_request', { message: 'm' })))
  expect(Object.keys(error as object)).not.toContain('provider')
})
