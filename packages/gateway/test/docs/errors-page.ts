import { codeRow, codes, type ErrorCode } from '@signalbox/dialects/errors'
import { failurePolicies } from '../../../core/src/upstream/failure-policy.ts'
import { row } from './markdown-row.ts'

/** The text of docs/errors.md. */
export const errorsPage = `# Errors

Written from \`packages/dialects/src/errors/codes.ts\` and \`upstream/failure-policy.ts\`; a test keeps it true.

\`\`\`json
{
  "error": {
    "message": "The model \\"gpt-5-mni\\" does not exist. Did you mean \\"gpt-5-mini\\"?",
    "type": "not_found_error",
    "param": "model",
    "code": "model_not_found",
    "suggestion": "Similar models: gpt-5-mini."
  }
}
\`\`\`

\`message\` says what happened, to what, and what to do; \`param\` is the path of the field at fault, or null; \`suggestion\` is there
where something close exists. Every answer has \`X-Request-ID\`; a 429 also has \`Retry-After\` (1 or more; none, and \`X-Should-Retry: false\`, where the same request can never pass) and
\`X-Rate-Limit-Source\`, \`routing\` for our own limits and \`provider\` for a provider's. Where a provider failed,
\`provider\` names it; where several were asked, \`attempts\` lists each with the kind of its failure and its status.

Inside a stream of Responses the last two events are \`error\` and \`response.failed\`, with the same message, type and code, and the
provider; inside one of Chat Completions it is one chunk with \`error\`, inside one of Messages one event \`error\`. Errors of
\`/v1/messages\` have that dialect's own shape, with our \`code\` beside its \`type\`:

\`\`\`json
{
  "type": "error",
  "error": {
    "type": "not_found_error",
    "code": "model_not_found",
    "message": "The model \\"claud\\" does not exist.",
    "param": "model"
  },
  "request_id": "01a1fd6c-4db3-76f2-bb09-734d779bb6f4"
}
\`\`\`

Over a [WebSocket](websocket.md) an error before the first content is a message with \`"type": "error"\`, the \`status\`, the body and the
\`headers\` of the response over HTTP.

## Codes

A code is retried only if that can help: \`no\` means that the response says \`X-Should-Retry: false\`, unless it says in
\`Retry-After\` when to try again. A reserved code belongs to the contract; no endpoint of this version answers with it.

\`invalid_request\` is kept for what cannot be read at all: a body that is no JSON object or not UTF-8, and bytes that are no HTTP request.
The latter end the connection, with 400, with 431 where the headers are larger than 16 KiB, and with 408 where the request does not arrive in time.

| code | status | type | retry |
|---|---|---|---|
${(Object.keys(codes) as ErrorCode[])
  .map(code => ({ code, ...codeRow(code) }))
  .map(({ code, status, type, retry, reserved }) =>
    row([`\`${code}\``, `${status}`, `\`${type}\``, reserved ? 'reserved' : retry === false ? 'no' : '']),
  )
  .join('\n')}

## What a provider's failure leads to

\`retry\`: the others first, then the same one once more, unless it asked to be left alone for longer than the request would
wait. \`next\`: the others only. \`strip\`: the same one at once, without the reasoning state of the conversation; where it was sent
none, the others. \`stop\`: the request is at fault, nobody else is asked. When several failed, the caller hears the topmost row.

| failure | then | code |
|---|---|---|
${Object.entries(failurePolicies)
  .map(([kind, policy]) => row([kind.replaceAll('_', ' '), policy.action, `\`${policy.code}\``]))
  .join('\n')}
`
