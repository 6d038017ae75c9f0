export { answerPastFrom, type PastMoment, type PastQuestion, viewRoutesOf } from './answer-past.js'
export { type PastAnswers, pastAnswersHere, pastAnswersOnThread } from './past-answers.js'
