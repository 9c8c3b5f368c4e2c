// What the examples use of Bun and Deno. In an app `bun-types`, or Deno itself, declares it.

declare const Bun: { serve(options: object): unknown }
declare const Deno: {
  serve(
    options: { readonly port: number; readonly hostname?: string; readonly onListen?: () => void },
    handler: (request: Request, connection: { readonly remoteAddr: unknown }) => Promise<Response>,
  ): unknown
}
