import { library } from '../testing/tools/build/library.ts'

export default library({
  // Files of their own, so that bundlers leave out undici with what a program does not use: it needs `require`.
  entry: {
    index: 'src/index.ts',
    'node-transport': 'src/node-transport.ts',
    'guarded-media': 'src/guarded-media.ts',
    proxy: 'src/transport/proxy.ts',
    'proxy-fetch': 'src/transport/proxy-fetch.ts',
  },
  platform: 'node',
})
