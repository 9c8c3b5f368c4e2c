import type { ApiRequest } from './exchange.ts'

/**
 * The key of `Authorization: Bearer <key>`. Undefined for every other form: two headers (they arrive joined by a comma),
 * another scheme, something behind the key. What is undefined here and what no one knows get the same answer.
 */
export function secretOf(request: ApiRequest): string | undefined {
  return /^bearer +([\x21-\x2b\x2d-\x7e]{1,512})$/i.exec(request.header('authorization') ?? '')?.[1]
}
