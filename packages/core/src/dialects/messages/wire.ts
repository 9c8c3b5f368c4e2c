export const dialect = 'messages'
