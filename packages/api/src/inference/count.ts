import type { Caller } from '@signalbox/gateway'
import type { ApiReply } from '../api.ts'
import { json } from '../json-reply.ts'
import type { Call } from '../route.ts'
import { dialectNamed } from './infer.ts'

/** Creates the handler of a row that counts the tokens of a request in the dialect `name`, without calling a model. */
export const countTokens =
  (name: string) =>
  async ({ gateway, site, request, log, body, admission, claimMemory }: Call, caller: Caller): Promise<ApiReply> => {
    const dialect = dialectNamed(name, site)
    const inferenceRequest = (dialect.decodeCounting ?? dialect.decodeRequest)(body, request.header)
    log.note({ model: inferenceRequest.routing.models[0] })
    const { input_tokens, estimated } = await gateway.countTokens(inferenceRequest, caller, {
      signal: request.signal,
      admission,
      claimMemory,
    })
    await admission?.leave()
    log.note({ inputTokens: input_tokens })
    return json({ input_tokens }, estimated ? { headers: { 'x-token-count': 'estimated' } } : {})
  }
