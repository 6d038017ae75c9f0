export { type AnswerPast, answerPastFrom, type PastMoment, type PastQuestion, type PastSource, viewRoutesOf } from './answer-past.js'
export { type PastAnswers, pastAnswersHere, pastAnswersOnThread } from './past-answers.js'
