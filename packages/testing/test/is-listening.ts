import { connect } from 'node:net'

/** Whether something listens on a port. */
export const isListening = ({ host, port }: { readonly host: string; readonly port: number }): Promise<boolean> =>
  new Promise(resolve => {
    const socket = connect({ host, port, timeout: 2_000 })
    const end = (answer: boolean) => () => {
      socket.destroy()
      resolve(answer)
    }
    socket.once('connect', end(true)).once('error', end(false)).once('timeout', end(false))
  })
