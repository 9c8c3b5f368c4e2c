import { library } from '../testing/tools/build/library.ts'

export default library({
  entry: {
    index: 'src/index.ts',
    identity: 'src/identity.ts',
  },
})
