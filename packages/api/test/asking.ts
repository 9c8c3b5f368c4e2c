import type { Api, ApiReply, ApiRequest } from '../src/index.ts'

export interface Asked {
  readonly headers?: Readonly<Record<string, string>>
  readonly query?: string
  readonly body?: string
  /** The body is larger than anything. */
  readonly huge?: boolean
}

/** `call`: method and path, as in `GET /v1/me`. */
export const ask = (api: Api, call: string, { headers = {}, query = '', body = '{}', huge = false }: Asked = {}): Promise<ApiReply> => {
  const [method = '', path = ''] = call.split(' ')
  const request: ApiRequest = {
    method,
    path,
    query,
    header: name => headers[name],
    text: async () => (huge ? { ok: false, why: 'too_large' } : { ok: true, text: body }),
    signal: new AbortController().signal,
  }
  return api(request)
}

export const parsed = ({ body }: ApiReply): ReturnType<typeof JSON.parse> =>
  typeof body === 'string' && body !== '' ? JSON.parse(body) : {}
